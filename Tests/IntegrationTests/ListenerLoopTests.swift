import AsyncHTTPClient
import GatewayHTTP
import Hummingbird
import Logging
import NIOCore
import NIOHTTP1
import ServiceLifecycle
import Testing

/// The threads on which listeners run calls.
@Suite(.timeLimit(.minutes(5))) struct ListenerLoopTests {
    /// Answers 200 on the event loop of the connection, 202 elsewhere, and 409 if a wait has changed that.
    private struct Looking: HTTPResponder {
        typealias Context = CallContext

        func respond(to request: Request, context: CallContext) async throws -> Response {
            let loop = context.channel.eventLoop
            let before = loop.inEventLoop
            await Task.yield()
            guard loop.inEventLoop == before else { return Response(status: .conflict) }
            return Response(status: before ? .ok : .accepted)
        }
    }

    private static let kinds: [(Listener.Kind, UInt)] = [(.http, 200), (.https, 200), (.admin, 202), (.console, 202)]

    // Elsewhere, each part of a call would change threads.
    @Test(arguments: kinds)
    func callsOfDevicesRunOnTheLoopOfTheirConnection(_ kind: Listener.Kind, _ expected: UInt) async throws {
        let addresses = BoundAddresses(expected: 1)
        let service = Listener.service(
            kind,
            on: ListenAddress(host: "127.0.0.1", port: 0),
            responder: Looking(),
            tls: nil,
            addresses: addresses,
            logger: Logger(label: "loops") { _ in SwiftLogNoOpLogHandler() }
        )
        let client = HTTPClient()
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await service.run() }
            await addresses.allOpen()
            let port = addresses.first(kind)?.port ?? 0
            // The second call arrives on a connection that is open.
            for _ in 0..<2 {
                let request = HTTPClientRequest(url: "http://127.0.0.1:\(port)/")
                let answer = try? await client.execute(request, timeout: .seconds(20))
                #expect(answer?.status.code == expected)
            }
            try await client.shutdown()
            group.cancelAll()
        }
    }
}
