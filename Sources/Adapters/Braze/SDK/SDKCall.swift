import HTTPTypes
import Model

/// One call of the vendor's SDK (docs/contracts/braze.md#3).
enum SDKCall: String, CaseIterable {
    case data = "/api/v3/data"
    case template = "/api/v3/template"
    case contentCards = "/api/v3/content_cards/sync"
    /// Any other below `/api/v3`: answered, so that an SDK does not try for ever.
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

    /// The app identifier that the call shows: in a header, the body, or both.
    ///
    /// - Throws: `AdapterError`: `.methodNotAllowed` for what is not posted, `.unauthorized` where there is none or two that differ.
    static func key(_ request: VendorRequest) throws(AdapterError) -> String {
        guard request.method == .post else { throw AdapterError(.methodNotAllowed) }
        let shown = request.header("X-Braze-Api-Key") ?? request.header("XBraze-ApiKey")
        let told: String?
        do throws(AdapterError) {
            told = try request.brazeBody()["api_key"]?.string
        } catch {
            // That the body cannot be read is the lesser trouble where a header says whose it is; without one nobody can be told.
            guard shown != nil else { throw error }
            told = nil
        }
        guard let key = shown ?? told, key == told ?? key, (1...BrazeLimits.keyBytes).contains(key.utf8.count) else {
            throw AdapterError(.unauthorized)
        }
        return key
    }
}
