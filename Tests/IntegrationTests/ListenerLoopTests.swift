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

    /// Answers with the places at which its parts ran: the steps of a call with a small body and with a large one, what follows them, and the writing of the body.
    private struct Leaving: HTTPResponder {
        typealias Context = CallContext

        func respond(to request: Request, context: CallContext) async throws -> Response {
            let loop = context.channel.eventLoop
            func place() -> String { loop.inEventLoop ? "loop" : "thread" }
            let small = await LargeBodies.steps(of: []) { place() }
            let bytes = [UInt8](repeating: 0, count: LargeBodies.smallBytes + 1)
            let large = await LargeBodies.steps(of: bytes) { place() }
            let after = place()
            let body = ResponseBody { writer in
                let written = loop.inEventLoop ? "loop" : "thread"
                try await writer.write(ByteBuffer(string: "\(small) \(large) \(after) \(written)"))
                try await writer.finish(nil)
            }
            return Response(status: .ok, body: body).writtenOnThreads()
        }
    }

    private static let kinds: [(Listener.Kind, UInt)] = [(.http, 200), (.https, 200), (.admin, 202), (.console, 202)]

    /// The answers to two calls, of which the second arrives on a connection that is open.
    private func answers(
        of responder: some HTTPResponder<CallContext>,
        on kind: Listener.Kind
    ) async throws -> [(status: UInt, body: String)] {
        let addresses = BoundAddresses(expected: 1)
        let service = Listener.service(
            kind,
            on: ListenAddress(host: "127.0.0.1", port: 0),
            responder: responder,
            tls: nil,
            addresses: addresses,
            logger: Logger(label: "loops") { _ in SwiftLogNoOpLogHandler() }
        )
        let client = HTTPClient()
        return try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await service.run() }
            await addresses.allOpen()
            let port = addresses.first(kind)?.port ?? 0
            var answers: [(status: UInt, body: String)] = []
            for _ in 0..<2 {
                let request = HTTPClientRequest(url: "http://127.0.0.1:\(port)/")
                guard let answer = try? await client.execute(request, timeout: .seconds(20)),
                    let body = try? await answer.body.collect(upTo: 1024)
                else { break }
                answers.append((answer.status.code, String(buffer: body)))
            }
            try await client.shutdown()
            group.cancelAll()
            return answers
        }
    }

    // Elsewhere, each part of a call would change threads.
    @Test(arguments: kinds)
    func callsOfDevicesRunOnTheLoopOfTheirConnection(_ kind: Listener.Kind, _ expected: UInt) async throws {
        #expect(try await answers(of: Looking(), on: kind).map { $0.status } == [expected, expected])
    }

    /// Otherwise other connections would wait for them.
    @Test func largeCallsAndAnswersLeaveTheLoop() async throws {
        let expected = "loop thread loop thread"
        #expect(try await answers(of: Leaving(), on: .http).map { $0.body } == [expected, expected])
    }
}
