import Forwarding
import Foundation
import Model
import Outgoing
import TestKit
import Testing
import UpstreamSupport

@testable import Gateway

/// The calls by which upstreams send messages, over real sockets (docs/routing.md#upstream-sending).
@Suite(.timeLimit(.minutes(5))) struct UpstreamSenderTests {
    private struct FixedClock: WallClock {
        func now() -> Timestamp { Timestamp(seconds: 1_764_547_200) }
    }

    private static let key = CredentialKey(tenant: "acme", credential: "old")
    private static let call = UpstreamCall(
        VendorRequest(route: "send", path: "/relay/send", body: Array("{}".utf8)),
        targets: [0, 1]
    )

    private func sender(
        _ port: Int,
        allowing networks: [String] = ["127.0.0.0/8"],
        limits: OutgoingLimits = ProxyStage.patient
    ) throws -> UpstreamSender {
        let client = OutgoingClient(
            addressGuard: AddressGuard(allowing: try networks.map { try #require(AddressRange($0)) }),
            resolver: SystemResolver(threadCount: 1),
            limits: limits
        )
        let url = try #require(OutgoingURL("http://127.0.0.1:\(port)"))
        let target = UpstreamForwardCaller.Target(
            server: OutgoingServer(credential: Self.key, url: url),
            settings: UpstreamSettings(vendor: RelayAdapter.vendor)
        )
        return UpstreamSender(
            client: client,
            adapters: [RelayAdapter.vendor: RelayAdapter()],
            name: ProxyStage.name,
            clock: FixedClock()
        ) { key in
            key == Self.key ? target : nil
        }
    }

    private func answer(_ status: String) -> RawServer.Answer {
        .text("HTTP/1.1 \(status)\r\nContent-Length: 2\r\n\r\n{}")
    }

    @Test func theDialectReadsTheAnswerOfACallThatNamesTheGateway() async throws {
        let upstream = try await RawServer.start()
        let sender = try self.sender(upstream.port)
        let result = await sender.call(Self.call, through: Self.key)
        #expect(result == UpstreamResult([.acceptedByUpstream, .acceptedByUpstream], reference: "m-1"))
        let request = try #require(upstream.requests.first)
        #expect(request.head.first == "POST /relay/send HTTP/1.1" && request.body == Array("{}".utf8))
        #expect(request.field("via") == "1.1 \(ProxyStage.name)")
        #expect(sender.settings(of: Self.key)?.vendor == RelayAdapter.vendor)
        await upstream.stop()
    }

    @Test func anAnswerWithoutAMeaningForATargetIsUnclear() async throws {
        let upstream = try await RawServer.start()
        let sender = try self.sender(upstream.port)
        for status in ["299 Odd", "500 Internal Server Error", "302 Found"] {
            upstream.script([answer(status)])
            let result = await sender.call(Self.call, through: Self.key)
            #expect(result.outcomes == [.unclear, .unclear], "\(status)")
        }
        await upstream.stop()
    }

    // A byte may have left: the message must not be sent again.
    @Test func aCallWithoutAnAnswerIsIndeterminate() async throws {
        let upstream = try await RawServer.start()
        var limits = ProxyStage.patient
        limits.call = .milliseconds(700)
        let sender = try self.sender(upstream.port, limits: limits)
        let answers: [RawServer.Answer] = [
            .silence, .closing("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{}"), .endless, .text("nonsense\r\n\r\n"),
        ]
        for answer in answers {
            upstream.script([answer])
            let result = await sender.call(Self.call, through: Self.key)
            #expect(result.outcomes.count == 2)
            let isUnknown = result.outcomes.allSatisfy { outcome in
                if case .indeterminate = outcome { true } else { false }
            }
            #expect(isUnknown, "\(answer): \(result.outcomes)")
        }
        await upstream.stop()
    }

    @Test func aCallThatCannotLeaveIsUnsent() async throws {
        let port = try ClosedPort()
        defer { port.release() }
        func code(_ result: UpstreamResult) -> TransportError.Code? {
            if case .unsent(let error)? = result.outcomes.first { error.code } else { nil }
        }
        let closed = try await sender(port.number).call(Self.call, through: Self.key)
        #expect(closed.outcomes.count == 2 && code(closed) == .noConnection)
        // The address is not allowed, or the credential does not exist.
        let forbidden = try await sender(port.number, allowing: []).call(Self.call, through: Self.key)
        #expect(code(forbidden) == .noCredential)
        let unknown = CredentialKey(tenant: "acme", credential: "other")
        let missing = try await sender(port.number).call(Self.call, through: unknown)
        #expect(code(missing) == .noCredential)
        #expect(try sender(port.number).settings(of: unknown) == nil)
    }
}
