package import HTTPTypes
package import Hummingbird
import NIOCore
import NIOEmbedded
import NIOHTTP1
import NIOHTTPCompression

/// Compresses the body of an answer with gzip, part by part, for callers that accept it.
///
/// Not for answers that contain a secret next to a text of the caller: their lengths would tell about the secret.
package enum BodyCompressor {
    /// 1 KiB: a shorter answer fits in one packet, and compressing it costs more than it saves.
    package static let minimumBytes = 1024

    /// The response; compressed if its caller accepts that, and its body is long enough or of unknown length.
    package static func compressed(_ response: Response, for headers: HTTPFields) -> Response {
        var response = response
        response.headers[.vary] = "Accept-Encoding"
        guard response.body.contentLength ?? .max >= minimumBytes, isAccepted(headers) else { return response }
        response.headers[.contentEncoding] = "gzip"
        let body = response.body
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

    /// A channel for one answer. The library's compressor is a channel handler; this kind of channel works in any thread, unlike that of `BodyInflater`.
    private static func open() async throws -> NIOAsyncTestingChannel {
        let channel = try await NIOAsyncTestingChannel {
            try $0.pipeline.syncOperations.addHandler(HTTPResponseCompressor())
        }
        var request = HTTPRequestHead(version: .http1_1, method: .GET, uri: "/")
        request.headers.add(name: "Accept-Encoding", value: "gzip")
        try await channel.writeInbound(HTTPServerRequestPart.head(request))
        try await channel.writeOutbound(HTTPServerResponsePart.head(HTTPResponseHead(version: .http1_1, status: .ok)))
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
