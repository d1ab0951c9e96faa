import Model

/// The platform that a client's `User-Agent` indicates. Source: the HTTP libraries of the vendor's samples (docs/contracts/rationalowl.md#2.1).
enum ClientHint {
    static func platform(userAgent: String?) -> Platform? {
        guard let agent = userAgent?.lowercased() else { return nil }
        if agent.contains("okhttp/") { return .android }
        return ["cfnetwork", "alamofire", "darwin"].contains(where: agent.contains) ? .ios : nil
    }
}
