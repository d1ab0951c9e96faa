import HTTPTypes
import Hummingbird
import NIOConcurrencyHelpers
import NIOCore
import Testing

@testable import GatewayHTTP

/// Compressed answers. `BodyInflater` reads them.
@Suite struct BodyCompressorTests {
    /// Keeps what is written.
    private struct Collector: ResponseBodyWriter {
        private let parts = NIOLockedValueBox<[[UInt8]]>([])
        private let end = NIOLockedValueBox(false)

        mutating func write(_ buffer: ByteBuffer) async throws {
            parts.withLockedValue { $0.append(Array(buffer.readableBytesView)) }
        }

        consuming func finish(_ trailingHeaders: HTTPFields?) async throws {
            end.withLockedValue { $0 = true }
        }

        var bytes: [UInt8] { parts.withLockedValue { $0.flatMap(\.self) } }
        var count: Int { parts.withLockedValue { $0.count } }
        var isFinished: Bool { end.withLockedValue { $0 } }
    }

    private struct Broken: Error {}

    private func headers(_ accepted: String?) -> HTTPFields {
        var headers = HTTPFields()
        headers[.acceptEncoding] = accepted
        return headers
    }

    /// Lines like those of an export.
    private static func lines(_ count: Int) -> [UInt8] {
        Array((0..<count).map { #"{"cursor":"\#($0)","app":"shop","state":"sent"}"# + "\n" }.joined().utf8)
    }

    private func inflated(_ bytes: [UInt8]) throws -> [UInt8] {
        try BodyInflater.inflated(bytes, coding: "gzip", limitBytes: 16 << 20)
    }

    @Test(arguments: [30, 2000, 100_000])
    func aLongBodyIsCompressed(_ count: Int) async throws {
        let bytes = Self.lines(count)
        let plain = Response(status: .ok, body: ResponseBody(byteBuffer: ByteBuffer(bytes: bytes)))
        let response = BodyCompressor.compressed(plain, for: headers("gzip"))
        #expect(response.headers[.contentEncoding] == "gzip" && response.headers[.vary] == "Accept-Encoding")
        #expect(response.headers[.contentLength] == nil && response.body.contentLength == nil)
        let collector = Collector()
        try await response.body.write(collector)
        #expect(try inflated(collector.bytes) == bytes)
        #expect(collector.bytes.count < bytes.count / 2 && collector.isFinished)
    }

    // In one part, however many it had.
    @Test func aBodyOfKnownLengthIsCompressedAsAWhole() async throws {
        let parts = (1...5).map { Self.lines(100 * $0) }
        let body = ResponseBody(contentsOf: parts.map { ByteBuffer(bytes: $0) })
        let response = BodyCompressor.compressed(Response(status: .ok, body: body), for: headers("gzip"))
        let collector = Collector()
        try await response.body.write(collector)
        #expect(try inflated(collector.bytes) == parts.flatMap(\.self))
        #expect(collector.count == 1 && collector.isFinished)
    }

    // The caller gets nothing that looks complete.
    @Test func aBodyOfKnownLengthThatFailsIsNotFinished() async throws {
        let collector = Collector()
        let body = ResponseBody(contentLength: 4000) { writer in
            try await writer.write(ByteBuffer(bytes: Self.lines(10)))
            throw Broken()
        }
        let response = BodyCompressor.compressed(Response(status: .ok, body: body), for: headers("gzip"))
        await #expect(throws: Broken.self) { try await response.body.write(collector) }
        #expect(collector.count == 0 && !collector.isFinished)
    }

    @Test func manyBodiesAreCompressedAtTheSameTime() async throws {
        let bodies = (0..<64).map { Self.lines(50 + $0) }
        let accepted = headers("gzip")
        let answers = try await withThrowingTaskGroup(of: (Int, [UInt8]).self) { group in
            for (number, bytes) in bodies.enumerated() {
                group.addTask {
                    let body = ResponseBody(byteBuffer: ByteBuffer(bytes: bytes))
                    let response = BodyCompressor.compressed(Response(status: .ok, body: body), for: accepted)
                    let collector = Collector()
                    try await response.body.write(collector)
                    return (number, collector.bytes)
                }
            }
            return try await group.reduce(into: [Int: [UInt8]]()) { $0[$1.0] = $1.1 }
        }
        for (number, bytes) in bodies.enumerated() { #expect(try inflated(answers[number] ?? []) == bytes) }
    }

    // Each part reaches the caller before the next one is written.
    @Test func aStreamStaysAStream() async throws {
        let collector = Collector()
        let parts = (0..<5).map { Self.lines(100 * $0) }
        let body = ResponseBody { writer in
            for (number, part) in parts.enumerated() {
                try await writer.write(ByteBuffer(bytes: part))
                // The first part is empty.
                #expect(collector.count == number)
            }
            try await writer.finish(nil)
        }
        let response = BodyCompressor.compressed(Response(status: .ok, body: body), for: headers("gzip"))
        try await response.body.write(collector)
        #expect(try inflated(collector.bytes) == parts.flatMap(\.self))
    }

    @Test func anEmptyStreamIsCompressed() async throws {
        let collector = Collector()
        let body = ResponseBody { writer in try await writer.finish(nil) }
        let response = BodyCompressor.compressed(Response(status: .ok, body: body), for: headers("gzip"))
        try await response.body.write(collector)
        #expect(try inflated(collector.bytes).isEmpty && collector.isFinished)
    }

    // The answer has no proper end then.
    @Test func aStreamThatFailsIsNotFinished() async throws {
        let collector = Collector()
        let body = ResponseBody { writer in
            try await writer.write(ByteBuffer(bytes: Self.lines(10)))
            throw Broken()
        }
        let response = BodyCompressor.compressed(Response(status: .ok, body: body), for: headers("gzip"))
        await #expect(throws: Broken.self) { try await response.body.write(collector) }
        #expect(!collector.isFinished)
    }

    @Test func aShortBodyIsNotCompressed() async throws {
        let bytes = Array(Self.lines(100).prefix(BodyCompressor.minimumBytes - 1))
        let plain = Response(status: .ok, body: ResponseBody(byteBuffer: ByteBuffer(bytes: bytes)))
        let response = BodyCompressor.compressed(plain, for: headers("gzip"))
        let collector = Collector()
        try await response.body.write(collector)
        #expect(collector.bytes == bytes && response.headers[.contentEncoding] == nil)
        #expect(response.headers[.vary] == "Accept-Encoding")
    }

    @Test(arguments: [
        ("gzip", true), ("GZIP", true), ("deflate, gzip;q=0.5", true), ("*", true), ("x-gzip", true),
        ("br , gzip", true),
        (nil, false), ("", false), ("identity", false), ("gzip;q=0", false), ("gzip; q=0, *", false), ("*;q=0", false),
        ("deflate, br", false), ("gzip;q=", false), (";;,", false),
    ])
    func theCallerDecides(_ accepted: String?, _ isCompressed: Bool) {
        #expect(BodyCompressor.isAccepted(headers(accepted)) == isCompressed)
    }
}
