package import HTTPTypes
package import Hummingbird
import NIOCore
import NIOEmbedded
import NIOHTTP1
import NIOHTTPCompression

/// Compresses the body of an answer with gzip for callers that accept it: a body of known length as a whole, a stream part by part.
///
/// Not for answers that contain a secret next to a text of the caller: their lengths would reveal parts of the secret.
package enum BodyCompressor {
    /// 1 KiB: a shorter answer fits in one packet, and compressing it costs more than it saves.
    package static let minimumBytes = 1024
    /// 1 MiB: a longer body is compressed part by part, whatever is known about its length. It would keep the thread of its task for too long.
    static let wholeBytes = 1 << 20

    /// The response; compressed if its caller accepts that, and its body is long enough or of unknown length.
    package static func compressed(_ response: Response, for headers: HTTPFields) -> Response {
        var response = response
        response.headers[.vary] = "Accept-Encoding"
        let length = response.body.contentLength ?? .max
        guard length >= minimumBytes, isAccepted(headers) else { return response }
        response.headers[.contentEncoding] = "gzip"
        let body = response.body
        guard length > wholeBytes else {
            response.body = ResponseBody { writer in try await body.write(WholeWriter(base: writer)) }
            return response
        }
        response.body = ResponseBody { writer in
            let channel = try await open()
            do {
                try await body.write(Writer(base: writer, channel: channel))
            } catch {
                _ = try? await channel.finish(acceptAlreadyClosed: true)
                throw error
            }
            _ = try? await channel.finish(acceptAlreadyClosed: true)
        }
        return response
    }

    /// Whether the caller accepts gzip (RFC 9110, §12.5.3).
    static func isAccepted(_ headers: HTTPFields) -> Bool {
        var weights: [String: Double] = [:]
        for coding in headers[values: .acceptEncoding].flatMap({ $0.split(separator: ",") }) {
            let terms = coding.filter { $0 != " " && $0 != "\t" }.lowercased().split(separator: ";")
            let weight = terms.dropFirst().first { $0.hasPrefix("q=") }.map { Double($0.dropFirst(2)) ?? 0 }
            if let name = terms.first { weights[String(name)] = weight ?? 1 }
        }
        return (weights["gzip"] ?? weights["x-gzip"] ?? weights["*"] ?? 0) > 0
    }

    // MARK: Whole bodies

    /// The bytes compressed. The library's compressor is a channel handler, so that this call creates a channel for one body and drops it afterwards, all in one
    /// thread.
    private static func gzip(_ bytes: ByteBuffer) throws -> ByteBuffer {
        let channel = EmbeddedChannel(handler: HTTPResponseCompressor())
        defer { _ = try? channel.finish(acceptAlreadyClosed: true) }
        try channel.writeInbound(HTTPServerRequestPart.head(request))
        try channel.writeOutbound(HTTPServerResponsePart.head(answer))
        // The compressor regards a write without bytes as an error.
        if bytes.readableBytes > 0 { try channel.writeOutbound(HTTPServerResponsePart.body(.byteBuffer(bytes))) }
        try channel.writeOutbound(HTTPServerResponsePart.end(nil))
        var compressed = ByteBuffer()
        while let part = try channel.readOutbound(as: HTTPServerResponsePart.self) {
            if case .body(.byteBuffer(let buffer)) = part { compressed.writeImmutableBuffer(buffer) }
        }
        return compressed
    }

    /// Collects a body, and passes it on compressed at its end.
    private struct WholeWriter: ResponseBodyWriter {
        var base: any ResponseBodyWriter
        var body = ByteBuffer()

        mutating func write(_ buffer: ByteBuffer) async throws { body.writeImmutableBuffer(buffer) }

        consuming func finish(_ trailingHeaders: HTTPFields?) async throws {
            var writer = self
            let compressed = try BodyCompressor.gzip(writer.body)
            try await writer.base.write(compressed)
            try await writer.base.finish(trailingHeaders)
        }
    }

    // MARK: Streams

    /// The request that the compressor sees before a body, and the head of its answer.
    private static var request: HTTPRequestHead {
        HTTPRequestHead(version: .http1_1, method: .GET, uri: "/", headers: ["Accept-Encoding": "gzip"])
    }
    private static var answer: HTTPResponseHead { HTTPResponseHead(version: .http1_1, status: .ok) }

    /// A channel for one answer. This kind of channel works in any thread, unlike that for whole bodies.
    private static func open() async throws -> NIOAsyncTestingChannel {
        let channel = try await NIOAsyncTestingChannel {
            try $0.pipeline.syncOperations.addHandler(HTTPResponseCompressor())
        }
        try await channel.writeInbound(HTTPServerRequestPart.head(request))
        try await channel.writeOutbound(HTTPServerResponsePart.head(answer))
        return channel
    }

    /// Compresses each part and passes it on at once, so that a stream stays one.
    private struct Writer: ResponseBodyWriter {
        var base: any ResponseBodyWriter
        let channel: NIOAsyncTestingChannel

        mutating func write(_ buffer: ByteBuffer) async throws {
            // The compressor regards a write without bytes as an error.
            guard buffer.readableBytes > 0 else { return }
            try await channel.writeOutbound(HTTPServerResponsePart.body(.byteBuffer(buffer)))
            try await pass()
        }

        consuming func finish(_ trailingHeaders: HTTPFields?) async throws {
            var writer = self
            try await writer.channel.writeOutbound(HTTPServerResponsePart.end(nil))
            try await writer.pass()
            try await writer.base.finish(trailingHeaders)
        }

        /// Passes on what is compressed.
        private mutating func pass() async throws {
            while let part = try await channel.readOutbound(as: HTTPServerResponsePart.self) {
                if case .body(.byteBuffer(let buffer)) = part { try await base.write(buffer) }
            }
        }
    }
}
