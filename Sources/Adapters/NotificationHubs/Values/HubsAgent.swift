import Model

/// The header `User-Agent` of the vendor's SDKs (docs/contracts/notificationhubs.md#4.1):
/// `NOTIFICATIONHUBS/2020-06(api-origin=IosSdkV3.1; os=iOS; os_version=17.5;)`.
enum HubsAgent {
    /// 512 bytes: longer headers are not those of an SDK.
    private static let limitBytes = 512

    /// The facts that the SDK reports; none for other callers.
    static func client(_ header: String?) -> ClientFacts {
        var client = ClientFacts()
        guard let header, header.utf8.count <= limitBytes, header.hasPrefix("NOTIFICATIONHUBS/"),
            let start = header.firstIndex(of: "("), let end = header.lastIndex(of: ")"), start < end
        else { return client }
        for part in header[header.index(after: start)..<end].split(separator: ";") {
            let pair = part.split(separator: "=", maxSplits: 1)
            guard pair.count == 2 else { continue }
            let value = String(pair[1])
            switch pair[0].filter({ $0 != " " }) {
            case "api-origin": client.set(.sdkVersion, value)
            case "os": client.set(.os, value)
            case "os_version": client.set(.osVersion, value)
            default: break  // not a field of a client
            }
        }
        return client
    }
}
