import Foundation
import NIOConcurrencyHelpers
import NIOCore
import NIOPosix

/// A caller that writes bytes as a test states them, and returns the answer's bytes.
enum RawCaller {
    struct Answer: Sendable {
        /// The line of the status and those of the fields, in their order.
        var head: [String]
        /// Without the framing of chunks.
        var body: [UInt8]
        /// False: the connection ended before the answer did.
        var isWhole: Bool

        var status: Int { head.first?.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0 }
        var text: String { String(decoding: body, as: UTF8.self) }

        func field(_ name: String) -> String? {
            head.dropFirst().first { $0.lowercased().hasPrefix(name.lowercased() + ":") }
                .map { $0.dropFirst(name.count + 1).trimmingCharacters(in: .whitespaces) }
        }

        /// The head without the fields that belong to one connection.
        var endToEnd: [String] {
            head.filter { line in
                let name = line.prefix { $0 != ":" }.lowercased()
                return !["connection", "keep-alive", "transfer-encoding"].contains(name)
            }
        }
    }

    /// A request in HTTP/1.1.
    static func request(
        _ method: String = "POST",
        _ target: String,
        _ fields: [String] = [],
        _ body: [UInt8] = []
    ) -> [UInt8] {
        let lines =
            ["\(method) \(target) HTTP/1.1", "Host: push.example.com", "Content-Length: \(body.count)"] + fields
        return Array((lines.joined(separator: "\r\n") + "\r\n\r\n").utf8) + body
    }

    /// Makes one call on a connection of its own.
    ///
    /// - Parameters:
    ///   - port: on loopback.
    ///   - request: its bytes.
    ///   - pause: what the caller waits for before it reads.
    /// - Returns: what arrived until the answer or the connection ended, at most within 60 s.
    /// - Throws: when it cannot connect, or the error of `pause`.
    static func call(
        _ port: Int,
        _ request: [UInt8],
        reading pause: () async throws -> Void = {}
    ) async throws -> Answer {
        let channel = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .connect(host: "127.0.0.1", port: port) { channel in
                channel.eventLoop.makeCompletedFuture {
                    try NIOAsyncChannel<ByteBuffer, ByteBuffer>(
                        wrappingChannelSynchronously: channel,
                        configuration: .init(
                            backPressureStrategy: .init(lowWatermark: 1, highWatermark: 2)
                        )
                    )
                }
            }
        let deadline = channel.channel.eventLoop.scheduleTask(in: .seconds(60)) { channel.channel.close(promise: nil) }
        defer { deadline.cancel() }
        return try await channel.executeThenClose { inbound, outbound in
            try await outbound.write(ByteBuffer(bytes: request))
            try await pause()
            var bytes: [UInt8] = []
            let isHead = request.starts(with: Array("HEAD ".utf8))
            do {
                for try await buffer in inbound {
                    bytes += buffer.readableBytesView
                    if let answer = answer(bytes, isHead: isHead), answer.isWhole { return answer }
                }
            } catch {}
            return answer(bytes, isHead: isHead) ?? Answer(head: [], body: bytes, isWhole: false)
        }
    }

    /// Nil: the head has not arrived.
    private static func answer(_ bytes: [UInt8], isHead: Bool) -> Answer? {
        guard let end = bytes.firstRange(of: Array("\r\n\r\n".utf8)) else { return nil }
        let head = String(decoding: bytes[..<end.lowerBound], as: UTF8.self).components(separatedBy: "\r\n")
        var answer = Answer(head: head, body: [], isWhole: false)
        let rest = bytes[end.upperBound...]
        if isHead || answer.status == 204 || answer.status == 304 {
            answer.isWhole = true
        } else if let length = answer.field("Content-Length").flatMap({ Int($0) }) {
            answer.body = Array(rest.prefix(length))
            answer.isWhole = rest.count >= length
        } else if answer.field("Transfer-Encoding")?.lowercased() == "chunked" {
            (answer.body, answer.isWhole) = dechunked(rest)
        } else {
            answer.body = Array(rest)
        }
        return answer
    }

    private static func dechunked(_ bytes: ArraySlice<UInt8>) -> ([UInt8], isWhole: Bool) {
        var (body, rest): ([UInt8], ArraySlice<UInt8>) = ([], bytes)
        while let line = rest.firstRange(of: [0x0D, 0x0A]) {
            guard let count = Int(String(decoding: rest[..<line.lowerBound], as: UTF8.self), radix: 16) else { break }
            guard count > 0 else { return (body, true) }
            let start = line.upperBound
            guard rest.endIndex - start >= count + 2 else {
                return (body + rest[start...].prefix(count), false)
            }
            body += rest[start..<(start + count)]
            rest = rest[(start + count + 2)...]
        }
        return (body, false)
    }
}
