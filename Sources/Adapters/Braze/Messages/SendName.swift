import Model

/// `send_id`: the caller's name for a group of sends in statistics.
enum SendName {
    /// Nil if the body has none.
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

/// The labels of the statistics of sends. U+001F does not occur at the start of names that people choose.
enum SendLabel {
    static func campaign(_ id: String) -> String { "campaign\u{1F}\(id)" }

    static func send(_ id: String, of campaign: String?) -> String { "send\u{1F}\(campaign ?? "")\u{1F}\(id)" }

    static func all(campaign: String?, send: String?) -> [String] {
        [campaign.map { Self.campaign($0) }, send.map { Self.send($0, of: campaign) }].compactMap(\.self)
    }
}
