import HTTPTypes
import Model

/// The access policy of a hub at the vendor, as an upstream's credential has it.
struct HubCredential {
    /// The hub's name at the vendor.
    let hub: String
    private let keyName: String
    private let key: [UInt8]

    /// Nil: a field is missing.
    init?(_ upstream: UpstreamSettings) {
        guard let hub = upstream.values["hub"]?.string, let name = upstream.values["keyName"]?.string,
            let key = upstream.secrets["key"], !hub.isEmpty, !name.isEmpty
        else { return nil }
        self.hub = hub
        keyName = name
        self.key = Array(key.utf8)
    }

    /// The call with this hub in its path and a signature of this key. Everything else is unchanged.
    func signed(_ request: VendorRequest, host: String, at time: Timestamp) -> VendorRequest {
        var signed = request
        signed.path = path(request.path)
        signed.headers[.authorization] = authorization(host: host, at: time)
        // The caller's rights were checked for the call's own method.
        for name in Self.methodFields { if let name = HTTPField.Name(name) { signed.headers[name] = nil } }
        return signed
    }

    /// Headers by which some servers take another method.
    private static let methodFields = ["X-HTTP-Method", "X-HTTP-Method-Override", "X-Method-Override"]

    /// The path with this hub as its first part.
    private func path(_ path: String) -> String {
        let start = path.firstIndex { $0 != "/" } ?? path.endIndex
        let end = path[start...].firstIndex(of: "/") ?? path.endIndex
        return String(path[..<start]) + PercentCoding.encode(hub) + String(path[end...])
    }

    /// The signature covers the hub and is valid for a short time. Its resource is spelled as the vendor's .NET SDK spells it (docs/contracts/notificationhubs.md#3.2).
    private func authorization(host: String, at time: Timestamp) -> String {
        SharedAccessSignature.header(
            for: "http://\(host)/\(hub)/".lowercased(),
            rule: keyName,
            key: key,
            until: time + HubsLimits.signatureTime
        )
    }
}
