import APNsSimulator
import Foundation
import NIOCore
import NIOPosix
import Testing

/// No bytes of a client may cause a trap: random and truncated bytes, inside and below TLS, over real sockets. A trap of the simulator
/// ends the whole test process.
@Suite struct GarbageTests {
    private static let rounds = 60

    @Test(arguments: [1, 2, 3] as [UInt64])
    func randomFramesEndTheirConnectionAtMost(seed: UInt64) async throws {
        try await RunningSimulator.with(mode: .script) { running in
            var random = SeededGenerator(seed: seed)
            for _ in 0..<Self.rounds {
                let client = try await RawClient(running)
                try? await client.settings()
                for _ in 0..<20 { try? await client.send([Self.frame(&random)]) }
            }
            try await expectService(running)
        }
    }

    @Test(arguments: [4, 5] as [UInt64])
    func spoiledRequestsEndTheirConnectionAtMost(seed: UInt64) async throws {
        try await RunningSimulator.with(mode: .script) { running in
            var random = SeededGenerator(seed: seed)
            for _ in 0..<Self.rounds {
                let client = try await RawClient(running)
                try? await client.settings()
                var frames: [RawFrame] = []
                for stream in [1, 3, 5] { frames += try client.request(running.pushHeaders(), on: stream) }
                for _ in 0..<3 {
                    let index = Int.random(in: 0..<frames.count, using: &random)
                    guard !frames[index].payload.isEmpty else { continue }
                    let place = Int.random(in: 0..<frames[index].payload.count, using: &random)
                    frames[index].payload[place] = UInt8.random(in: 0...255, using: &random)
                }
                try? await client.send(frames)
            }
            try await expectService(running)
        }
    }

    @Test func everyTruncationOfAPushIsHandled() async throws {
        try await RunningSimulator.with { running in
            let probe = try await RawClient(running)
            let bytes = try probe.request(running.pushHeaders(), on: 1).flatMap(RawClient.bytes)
            for length in stride(from: 0, to: bytes.count, by: 7) {
                let client = try await RawClient(running)
                try await client.settings()
                try await client.send(Array(bytes.prefix(length)))
            }
            try await expectService(running)
        }
    }

    @Test func bytesOtherThanTLSAreHandled() async throws {
        try await RunningSimulator.with { running in
            var random = SeededGenerator(seed: 9)
            for _ in 0..<Self.rounds {
                let channel = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
                    .connect(host: "127.0.0.1", port: running.addresses.apnsPort).get()
                let count = Int.random(in: 1...600, using: &random)
                let record: [UInt8] = [22, 3, 1, 2, 0]
                let bytes = (0..<count).map { _ in UInt8.random(in: 0...255, using: &random) }
                try? await channel.writeAndFlush(
                    ByteBuffer(bytes: Bool.random(using: &random) ? record + bytes : bytes)
                )
                try? await channel.close()
            }
            try await expectService(running)
        }
    }

    @Test func theControlPortHandlesAnyBytes() async throws {
        try await RunningSimulator.with { running in
            var random = SeededGenerator(seed: 11)
            for _ in 0..<Self.rounds {
                let channel = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
                    .connect(host: "127.0.0.1", port: running.addresses.controlPort).get()
                let bytes = (0..<200).map { _ in UInt8.random(in: 0...255, using: &random) }
                let head = Array("POST /_simulator/script HTTP/1.1\r\ncontent-length: 200\r\n\r\n".utf8)
                try? await channel.writeAndFlush(ByteBuffer(bytes: head + bytes))
                try? await channel.close()
            }
            try await expectService(running)
        }
    }

    @Test func headerListsAndBodiesHaveLimits() async throws {
        try await RunningSimulator.with { running in
            let client = try await RawClient(running)
            try await client.settings()
            // The limit of a header list is among the settings, and applies from their acknowledgment on.
            _ = try await client.next(.settings, flags: 0)
            try await client.acknowledgeSettings()
            let large = running.pushHeaders() + (0..<10).map { ("x-\($0)", String(repeating: "v", count: 1000)) }
            try await client.send(client.request(large, on: 1))
            try await client.end()
            try await expectService(running)
        }
    }

    private func expectService(_ running: RunningSimulator) async throws {
        let client = try await RawClient(running)
        try await client.settings()
        let id = UUID().uuidString
        try await client.send(client.request(running.pushHeaders(token: "ffff", id: id), on: 1))
        let answer = try await client.answer()
        #expect(answer.headers[":status"] == "200")
        #expect(answer.headers["apns-id"] == id)
    }

    private static func frame(_ random: inout SeededGenerator) -> RawFrame {
        let count = Int.random(in: 0...40, using: &random)
        return RawFrame(
            kind: RawFrame.Kind(rawValue: UInt8.random(in: 0...8, using: &random)) ?? .data,
            flags: UInt8.random(in: 0...255, using: &random),
            streamID: Int.random(in: 0...9, using: &random),
            payload: (0..<count).map { _ in UInt8.random(in: 0...255, using: &random) }
        )
    }
}

/// A generator that repeats the same bytes for a seed: SplitMix64.
struct SeededGenerator: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
        return mixed ^ (mixed >> 31)
    }
}
