import HTTPTypes
import Synchronization

/// Caches the result of an adapter's parsing of a request, so that `locate`, `decode` and `encode` of one call parse it once. It does not take part in
/// comparisons of the request, and is dropped when the request changes.
package final class RequestReading: Sendable {
    private let value = Mutex<(any AnyObject & Sendable)?>(nil)

    package var kept: (any AnyObject & Sendable)? { value.withLock { $0 } }

    package func keep(_ value: any AnyObject & Sendable) { self.value.withLock { $0 = value } }
}

/// The result of an adapter's parsing. An object, because a cast to it compares a pointer, and an adapter that names the type needs no metadata at run time.
package final class KeptReading<Value: Sendable>: Sendable {
    package let result: Swift.Result<Value, AdapterError>

    package init(_ request: VendorRequest, _ read: (VendorRequest) throws(AdapterError) -> Value) {
        do throws(AdapterError) { result = .success(try read(request)) } catch { result = .failure(error) }
    }
}

extension VendorRequest {
    /// - Parameter read: must depend on nothing but the request, and must have one result type per adapter.
    /// - Returns: the result of `read` for this request, which is computed at its first use.
    /// - Throws: the new or the cached error of `read`. So the answer to a large body that is refused does not read it again.
    package func once<Value: Sendable>(_ read: (VendorRequest) throws(AdapterError) -> Value) throws(AdapterError)
        -> Value
    {
        if let known = reading.kept as? KeptReading<Value> { return try known.result.get() }
        let made = KeptReading(self, read)
        reading.keep(made)
        return try made.result.get()
    }

    /// The body as a JSON object.
    ///
    /// - Throws: `AdapterError(.unreadable)` if it is not one.
    package func bodyObject() throws(AdapterError) -> JSONObject {
        let json: JSON
        do throws(JSONError) { json = try JSONParser.parse(body) } catch { throw AdapterError(unreadable: error) }
        guard let object = json.object else { throw AdapterError(.unreadable) }
        return object
    }

    /// A header by name. HTTPTypes has no constant for `Host`, because it stores that as the authority; the HTTP server adds it again as a field.
    package func header(_ name: String) -> String? { HTTPField.Name(name).flatMap { headers[$0] } }

    private static let hostField = HTTPField.Name("Host")

    /// The host to which the call was addressed, in the form of a binding: lower-case, without port. Nil also if there are several, so that a binding of one
    /// of them does not get the call.
    package var host: String? {
        let lines = Self.hostField.map { headers[values: $0] } ?? []
        return lines.count == 1 && !lines[0].isEmpty ? Self.bareHost(lines[0]) : nil
    }

    /// The form of a host in a binding: lower-case, without port.
    package static func bareHost(_ host: some StringProtocol) -> String {
        // An IPv6 literal keeps its brackets: the colons in it do not separate a port.
        let text = host.lowercased()
        if text.hasPrefix("[") { return String(text.prefix { $0 != "]" }) + "]" }
        return String(Substring(text.utf8.prefix { $0 != UInt8(ascii: ":") }))
    }
}
