import HTTPTypes
import Hummingbird
import Model
import NIOConcurrencyHelpers
import NIOCore
import ServiceLifecycle

@testable import GatewayHTTP

/// A back end that receives tracking callbacks. It refuses the configured number of calls first, and keeps those that
/// it accepts.
final class CallbackReceiver: Sendable {
    struct Received: Sendable {
        var body: JSON
        var bytes: [UInt8]
        var signature: String?
    }

    private struct State {
        var refusals: Int
        var accepted: [Received] = []
        var attempts = 0
        var methods: [String] = []
    }

    private static let signature = HTTPField.Name("X-Gateway-Signature")

    private let state: NIOLockedValueBox<State>
    private let addresses = BoundAddresses(expected: 1)

    init(refusing count: Int) { state = NIOLockedValueBox(State(refusals: count)) }

    var accepted: [Received] { state.withLockedValue { $0.accepted } }
    var attempts: Int { state.withLockedValue { $0.attempts } }
    /// The methods of all calls, in their order.
    var methods: [String] { state.withLockedValue { $0.methods } }

    /// Serves on a port while `body` runs. `body` gets the port.
    func serving(_ body: @escaping @Sendable (Int) async throws -> Void) async throws {
        let responder = CallbackResponder<BasicRequestContext> { request, _ in
            var request = request
            self.state.withLockedValue { $0.methods.append(request.method.rawValue) }
            let buffer = try await request.collectBody(upTo: 1 << 20)
            return self.take(Array(buffer.readableBytesView), Self.signature.flatMap { request.headers[$0] })
        }
        let application = Application(
            responder: responder,
            configuration: .init(address: .hostname("127.0.0.1", port: 0)),
            onServerRunning: { channel in
                self.addresses.opened(.http, ListenAddress(host: "127.0.0.1", port: channel.localAddress?.port ?? 0))
            }
        )
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await application.run() }
            group.addTask {
                await self.addresses.allOpen()
                try await body(self.addresses.first(.http)?.port ?? 0)
            }
            try await group.next()
            group.cancelAll()
        }
    }

    private func take(_ bytes: [UInt8], _ signature: String?) -> Response {
        let isRefused = state.withLockedValue { state in
            state.attempts += 1
            if state.refusals > 0 {
                state.refusals -= 1
                return true
            }
            if let body = try? JSONParser.parse(bytes) {
                state.accepted.append(Received(body: body, bytes: bytes, signature: signature))
            }
            return false
        }
        return Response(status: isRefused ? .internalServerError : .ok)
    }
}
