import Model

/// `send_id`: by what a caller counts sends together.
enum SendName {
    /// Nil: none is given.
    ///
    /// - Throws: `AdapterError` with the text of the answer.
    static func read(_ body: JSONObject) throws(AdapterError) -> String? {
        guard let value = body["send_id"], value != .null else { return nil }
        guard let name = value.string, (1...BrazeLimits.nameBytes).contains(name.utf8.count) else {
            throw BrazeText.fault("send_id")
        }
        return name
    }
}

/// By what the statistics of sends are kept. U+001F begins no name that a person gives.
enum SendLabel {
    static func campaign(_ id: String) -> String { "campaign\u{1F}\(id)" }

    static func send(_ id: String, of campaign: String?) -> String { "send\u{1F}\(campaign ?? "")\u{1F}\(id)" }

    static func all(campaign: String?, send: String?) -> [String] {
        [campaign.map { Self.campaign($0) }, send.map { Self.send($0, of: campaign) }].compactMap(\.self)
    }
}
