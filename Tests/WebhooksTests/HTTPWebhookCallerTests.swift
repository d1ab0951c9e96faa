import Model
import NIOConcurrencyHelpers
import NIOHTTP1
import Outgoing
import TestKit
import Testing
import Webhooks

/// A name server with the answers of a test: the first, then the next, and so on; the last one repeats.
final class ScriptedResolver: HostResolver {
    private let answers: NIOLockedValueBox<[String]>
    private let asked = NIOLockedValueBox<[String]>([])

    init(_ answers: String...) { self.answers = NIOLockedValueBox(answers) }

    var questions: [String] { asked.withLockedValue { $0 } }

    func address(of host: String, within time: Duration) async -> IPAddress? {
        asked.withLockedValue { $0.append(host) }
        let answer = answers.withLockedValue { $0.count > 1 ? $0.removeFirst() : $0.first }
        return answer.flatMap { IPAddress($0) }
    }
}

@Suite struct HTTPWebhookCallerTests {
    private func caller(
        allowing range: String = "127.0.0.0/8",
        resolver: any HostResolver = ScriptedResolver(),
        timeout: Duration = .seconds(10)
    ) -> HTTPWebhookCaller {
        let guardian = AddressGuard(allowing: [AddressRange(range)].compactMap(\.self))
        return HTTPWebhookCaller(timeout: timeout, idleTime: .seconds(600), addressGuard: guardian, resolver: resolver)
    }

    private func call(_ url: String, keeps: Bool = false) -> WebhookCall {
        WebhookCall(
            url: url,
            contentType: "application/json; charset=utf-8",
            body: Array(#"[{"mId":"1"}]"#.utf8),
            signature: "sha256=00",
            keepsConnection: keeps
        )
    }

    @Test func aCallArrivesCompleteAndSigned() async throws {
        let receiver = try await Receiver.start(answer: .status(204))
        let outcome = await caller().post(call("http://127.0.0.1:\(receiver.port)/ums/callback?a=1"))
        #expect(outcome == .accepted)
        let request = try #require(receiver.requests.first)
        #expect(request.uri == "/ums/callback?a=1")
        #expect(request.headers["X-Gateway-Signature"] == ["sha256=00"])
        #expect(request.headers["Content-Type"] == ["application/json; charset=utf-8"])
        #expect(request.body == call("").body)
        await receiver.stop()
    }

    @Test(arguments: [301, 302, 307, 308])
    func aRedirectIsARefusalAndIsNotFollowed(_ status: Int) async throws {
        let elsewhere = try await Receiver.start()
        let location = "http://127.0.0.1:\(elsewhere.port)/"
        let receiver = try await Receiver.start(answer: .status(status, headers: [("Location", location)]))
        #expect(await caller().post(call("http://127.0.0.1:\(receiver.port)/")) == .refused(status: status))
        #expect(elsewhere.connections == 0)
        await receiver.stop()
        await elsewhere.stop()
    }

    @Test func anErrorStatusIsARefusal() async throws {
        let receiver = try await Receiver.start(answer: .status(503))
        #expect(await caller().post(call("http://127.0.0.1:\(receiver.port)/")) == .refused(status: 503))
        await receiver.stop()
    }

    @Test func aReceiverThatNeverAnswersCostsOneTimeout() async throws {
        let receiver = try await Receiver.start(answer: .silence)
        let outcome = await caller(timeout: .milliseconds(200)).post(call("http://127.0.0.1:\(receiver.port)/"))
        #expect(outcome == .failed("timeout"))
        #expect(receiver.requests.count == 1)
        await receiver.stop()
    }

    // Only the status is needed: an endless body must neither hold the call nor fill the memory.
    @Test(.timeLimit(.minutes(10))) func anEndlessAnswerIsCutOff() async throws {
        let receiver = try await Receiver.start(answer: .endless)
        #expect(await caller(timeout: .seconds(30)).post(call("http://127.0.0.1:\(receiver.port)/")) == .accepted)
        await receiver.stop()
    }

    @Test func aClosedPortIsAFailureAtOnce() async throws {
        let port = try ClosedPort()
        defer { port.release() }
        #expect(await caller().post(call("http://127.0.0.1:\(port.number)/")) == .failed("no connection"))
    }

    @Test(arguments: ["127.0.0.1", "[::1]", "[::ffff:127.0.0.1]"])
    func loopbackIsForbiddenUnlessAllowed(_ host: String) async throws {
        let receiver = try await Receiver.start()
        let outcome = await caller(allowing: "192.0.2.0/24").post(call("http://\(host):\(receiver.port)/"))
        #expect(outcome == .forbidden)
        #expect(receiver.connections == 0)
        await receiver.stop()
    }

    // A name that resolves to an internal address is refused by the address, also in forms that only a resolver
    // understands.
    @Test(arguments: ["localhost", "127.1", "0x7f000001", "2130706433"])
    func aNameThatLeadsToLoopbackIsForbidden(_ host: String) async throws {
        let receiver = try await Receiver.start()
        let caller = caller(allowing: "192.0.2.0/24", resolver: SystemResolver(threadCount: 1))
        let outcome = await caller.post(call("http://\(host):\(receiver.port)/"))
        #expect(outcome == .forbidden)
        #expect(receiver.connections == 0)
        await receiver.stop()
    }

    // The client itself would resolve this name to 127.0.0.1. It must connect to the checked address.
    @Test func theConnectionGoesToTheCheckedAddress() async throws {
        let (judged, named) = try await Receiver.pair("127.0.0.5", "127.0.0.1")
        let outcome = await caller(allowing: "127.0.0.5/32", resolver: ScriptedResolver("127.0.0.5"))
            .post(call("http://localhost:\(judged.port)/"))
        #expect(outcome == .accepted)
        #expect(judged.requests.first?.headers["Host"] == ["localhost:\(judged.port)"])
        #expect(named.connections == 0)
        await judged.stop()
        await named.stop()
    }

    // DNS rebinding: the first lookup returns an external address and the next one an internal address.
    @Test func aNameThatAnswersDifferentlyTheSecondTimeCannotPass() async throws {
        let (outside, inside) = try await Receiver.pair("127.0.0.5", "127.0.0.1")
        let resolver = ScriptedResolver("127.0.0.5", "127.0.0.1")
        let caller = caller(allowing: "127.0.0.5/32", resolver: resolver)
        let url = "http://rebind.example:\(outside.port)/"
        #expect(await caller.post(call(url)) == .accepted)
        #expect(await caller.post(call(url)) == .forbidden)
        #expect(resolver.questions == ["rebind.example", "rebind.example"])
        #expect(outside.requests.count == 1)
        #expect(inside.connections == 0)
        await outside.stop()
        await inside.stop()
    }

    // MARK: Kept connections

    @Test func callsThatFollowEachOtherUseOneConnection() async throws {
        let receiver = try await Receiver.start()
        let caller = caller()
        let url = "http://127.0.0.1:\(receiver.port)/"
        for _ in 0..<3 { #expect(await caller.post(call(url, keeps: true)) == .accepted) }
        #expect(receiver.requests.count == 3 && receiver.connections == 1)
        for _ in 0..<2 { #expect(await caller.post(call(url)) == .accepted) }
        #expect(receiver.connections == 3, "other calls have a connection each")
        await receiver.stop()
    }

    // The address of each attempt decides, not the address to which a connection is open.
    @Test func aKeptConnectionIsUsedForItsOwnAddressOnly() async throws {
        let (outside, inside) = try await Receiver.pair("127.0.0.5", "127.0.0.1")
        let url = "http://rebind.example:\(outside.port)/"
        let moved = caller(resolver: ScriptedResolver("127.0.0.5", "127.0.0.1"))
        let strict = caller(allowing: "127.0.0.5/32", resolver: ScriptedResolver("127.0.0.5", "127.0.0.1"))
        for caller in [moved, strict] { #expect(await caller.post(call(url, keeps: true)) == .accepted) }
        #expect(await strict.post(call(url, keeps: true)) == .forbidden)
        #expect(inside.connections == 0)
        #expect(await moved.post(call(url, keeps: true)) == .accepted)
        #expect(outside.requests.count == 2 && inside.requests.count == 1)
        await outside.stop()
        await inside.stop()
    }

    @Test func aCallIsRepeatedOnceWhenItsKeptConnectionIsClosed() async throws {
        let receiver = try await Receiver.start(answers: [.status(200), .close, .status(200), .close])
        let caller = caller()
        let url = "http://127.0.0.1:\(receiver.port)/"
        #expect(await caller.post(call(url, keeps: true)) == .accepted)
        #expect(await caller.post(call(url, keeps: true)) == .accepted)
        #expect(receiver.requests.count == 3 && receiver.connections == 2)
        #expect(await caller.post(call(url, keeps: true)) == .failed("no connection"))
        #expect(receiver.requests.count == 5)
        await receiver.stop()
    }

    @Test(.timeLimit(.minutes(10))) func anEndlessAnswerEndsItsKeptConnection() async throws {
        let receiver = try await Receiver.start(answers: [.endless, .status(200)])
        let caller = caller(timeout: .seconds(30))
        let url = "http://127.0.0.1:\(receiver.port)/"
        for _ in 0..<2 { #expect(await caller.post(call(url, keeps: true)) == .accepted) }
        #expect(receiver.connections == 2)
        await receiver.stop()
    }

    @Test(arguments: ["", "x", "ftp://127.0.0.1/", "http://user@127.0.0.1/"])
    func onlyPlainURLsAreAllowed(_ url: String) async {
        #expect(await caller().post(call(url)) == .forbidden)
    }
}
