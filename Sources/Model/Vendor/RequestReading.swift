import HTTPTypes
import Synchronization

/// What an adapter has read of a request: `locate`, `decode` and `encode` of one call read it once. Not part of the request's value, and gone with any
/// change of it.
final class RequestReading: Sendable {
    private let value = Mutex<(any Sendable)?>(nil)

    func known<Value: Sendable>(_: Value.Type) -> Value? { value.withLock { $0 } as? Value }

    func keep(_ value: some Sendable) { self.value.withLock { $0 = value } }
}

extension VendorRequest {
    /// What `read` makes of this request, made at its first use.
    ///
    /// - Parameter read: must depend on nothing else, and give one type per adapter.
    /// - Returns: what was made, now or before.
    /// - Throws: what `read` throws, each time.
    package func once<Value: Sendable>(_ read: (VendorRequest) throws(AdapterError) -> Value) throws(AdapterError)
        -> Value
    {
        if let known = reading.known(Value.self) { return known }
        let value = try read(self)
        reading.keep(value)
        return value
    }

    /// A header by name. HTTPTypes has no constant for `Host`, because it keeps that as the authority; the mount gives it back as the field it was.
    package func header(_ name: String) -> String? { HTTPField.Name(name).flatMap { headers[$0] } }

    private static let hostField = HTTPField.Name("Host")

    /// The host the call was addressed to, as a binding spells it: lower-case, without port.
    package var host: String? {
        guard let host = Self.hostField.flatMap({ headers[$0] }), !host.isEmpty else { return nil }
        return Self.bareHost(host)
    }

    /// A host as a binding spells it: lower-case, without port.
    package static func bareHost(_ host: some StringProtocol) -> String {
        // An IPv6 literal keeps its brackets: its colons are no port.
        let text = host.lowercased()
        return text.hasPrefix("[") ? String(text.prefix { $0 != "]" }) + "]" : String(text.prefix { $0 != ":" })
    }
}
