/// Rows 5 to 8: repeated headers, method, path and id.
enum EnvelopeRules {
    static let send = [
        Rule(5, .documented) { $0.request.repeatedHeader == nil ? nil : RuleRefusal(.duplicateHeaders) },
        Rule(6, .documented) { $0.request.method == "POST" ? nil : RuleRefusal(.methodNotAllowed) },
        Rule(7, .documented, sendPath),
        Rule(8, .documented, messageID),
    ]

    /// On the channel management host, the path decides which methods are allowed.
    static let manage = [
        Rule(5, .documented) { $0.request.repeatedHeader == nil ? nil : RuleRefusal(.duplicateHeaders) },
        Rule(7, .documented, managePath),
        Rule(6, .documented) {
            $0.endpoint.methods.contains($0.request.method) ? nil : RuleRefusal(.methodNotAllowed)
        },
        Rule(8, .documented, messageID),
    ]

    private static let devicePath = "/3/device"
    private static let broadcastPath = "/4/broadcasts/apps/"
    private static let appsPath = "/1/apps/"

    private static func sendPath(_ examination: inout Examination) -> RuleRefusal? {
        let path = examination.request.path
        if path.hasPrefix(broadcastPath) {
            let bundle = path.dropFirst(broadcastPath.count)
            guard isPathPart(bundle) else { return RuleRefusal(.badPath) }
            examination.endpoint = .broadcast(bundle: String(bundle))
            return nil
        }
        guard path.hasPrefix(devicePath) else { return RuleRefusal(.badPath) }
        let rest = path.dropFirst(devicePath.count)
        if rest.isEmpty || rest == "/" { return RuleRefusal(.missingDeviceToken) }
        guard rest.first == "/", !rest.dropFirst().contains("/") else { return RuleRefusal(.badPath) }
        examination.deviceToken = String(rest.dropFirst())
        return nil
    }

    private static func managePath(_ examination: inout Examination) -> RuleRefusal? {
        let path = examination.request.path
        guard path.hasPrefix(appsPath) else { return RuleRefusal(.badPath) }
        let parts = path.dropFirst(appsPath.count).split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 2, isPathPart(parts[0]) else { return RuleRefusal(.badPath) }
        switch parts[1] {
        case "channels": examination.endpoint = .channels(bundle: String(parts[0]))
        case "all-channels": examination.endpoint = .allChannels(bundle: String(parts[0]))
        default: return RuleRefusal(.badPath)
        }
        return nil
    }

    private static func isPathPart(_ text: Substring) -> Bool {
        !text.isEmpty && text.utf8.count <= PushHeaderRules.longestTopicBytes
            && text.utf8.allSatisfy(PushHeaderRules.isTopicByte)
    }

    /// The id must be a UUID, in whichever header it is; an invalid one is not returned in the answer.
    private static func messageID(_ examination: inout Examination) -> RuleRefusal? {
        examination.givenID == nil || examination.apnsID != nil ? nil : RuleRefusal(.badMessageID)
    }

    /// Whether text is a UUID in the canonical 8-4-4-4-12 form, in upper or lower case.
    static func isUUID(_ text: String) -> Bool {
        let bytes = text.utf8
        guard bytes.count == 36 else { return false }
        return zip(0..., bytes).allSatisfy { index, byte in
            switch index {
            case 8, 13, 18, 23: byte == UInt8(ascii: "-")
            default: byte.isHexDigit
            }
        }
    }
}
