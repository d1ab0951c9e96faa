import HTTPTypes
import Model

/// A call of the vendor's SDK (docs/contracts/braze.md#3).
enum SDKCall: String, CaseIterable {
    case data = "/api/v3/data"
    case template = "/api/v3/template"
    case contentCards = "/api/v3/content_cards/sync"
    /// Any other path below `/api/v3`. It is answered, so that an SDK does not retry forever.
    case other = "/api/v3"

    static var routes: [VendorRoute] {
        allCases.filter { $0 != .other }.map {
            VendorRoute(name: "braze.\($0)", path: .exact($0.rawValue), bodyLimitBytes: BrazeLimits.bodyBytes)
        }
    }

    /// Nil: a call of the REST interface.
    init?(path request: VendorRequest) {
        let path = request.canonicalPath
        guard path == Self.other.rawValue || path.hasPrefix(Self.other.rawValue + "/") else { return nil }
        self = Self(rawValue: path) ?? .other
    }

    /// The app identifier of the call: in a header, the body, or both.
    ///
    /// - Throws: `AdapterError`: `.methodNotAllowed` for a method other than POST, `.unauthorized` if the identifier is missing or the two differ.
    static func key(_ request: VendorRequest) throws(AdapterError) -> String {
        guard request.method == .post else { throw AdapterError(.methodNotAllowed) }
        let shown = request.header("X-Braze-Api-Key") ?? request.header("XBraze-ApiKey")
        let inBody: String?
        do throws(AdapterError) {
            inBody = try request.brazeBody()["api_key"]?.string
        } catch {
            // With an identifier in the header, an unreadable body is reported later. Without one, the app is unknown.
            guard shown != nil else { throw error }
            inBody = nil
        }
        guard let key = shown ?? inBody, key == inBody ?? key, (1...BrazeLimits.keyBytes).contains(key.utf8.count)
        else {
            throw AdapterError(.unauthorized)
        }
        return key
    }
}
