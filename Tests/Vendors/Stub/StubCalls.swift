import HTTPTypes
import Model

/// The calls of the vendor, each a path below `/stub`.
enum StubCall: String, CaseIterable {
    case register, send, receipt

    static let mount = "/stub"
    /// The route of every other path below the mount, which is answered in the vendor's format too.
    static let unknownRoute = "stub.unknown"

    static var routes: [VendorRoute] {
        allCases.map { call in
            VendorRoute(
                name: call.rawValue,
                path: .exact("\(mount)/\(call.rawValue)"),
                bodyLimitBytes: StubLimits.bodyBytes
            )
        } + [VendorRoute(name: unknownRoute, path: .prefix(mount), bodyLimitBytes: StubLimits.bodyBytes)]
    }

    /// - Throws: `AdapterError` for a path that is not a call, and for methods other than POST.
    init(_ request: VendorRequest) throws(AdapterError) {
        guard let call = Self(rawValue: request.route) else { throw AdapterError(.notFound) }
        guard request.method == .post else { throw AdapterError(.methodNotAllowed) }
        self = call
    }
}
