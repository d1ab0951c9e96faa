import Model

/// What a client's `User-Agent` tells of its platform. Source: the HTTP libraries of the vendor's samples (contract §2.1).
enum ClientHint {
    static func platform(userAgent: String?) -> Platform? {
        guard let agent = userAgent?.lowercased() else { return nil }
        if agent.contains("okhttp/") { return .android }
        return ["cfnetwork", "alamofire", "darwin"].contains(where: agent.contains) ? .ios : nil
    }
}
