package import HTTPTypes
package import Model
import NIOCore
import NIOEmbedded
import NIOHTTP1
import NIOHTTPCompression

/// Inflates the compressed body of a call.
package enum BodyInflater {
    private static let codings: Set<String> = ["gzip", "deflate"]

    /// Whether `headers` declare a supported compression of the body.
    package static func isNeeded(_ headers: HTTPFields) -> Bool {
        headers[.contentEncoding].map { codings.contains($0.lowercased()) } ?? false
    }

    /// Returns the inflated body. `limitBytes` bounds its size, because a few bytes may expand to many and the whole body is held in memory.
    ///
    /// - Throws: `.tooLarge` above the limit, `.broken` for a malformed stream or for data after its end.
    package static func inflated(_ body: [UInt8], coding: String, limitBytes: Int) throws(BodyReader.Failure) -> [UInt8]
    {
        // The library's decompressor is a channel handler, so that this call creates a channel for one body and drops it afterwards.
        let channel = EmbeddedChannel(handler: NIOHTTPRequestDecompressor(limit: .size(limitBytes)))
        defer { _ = try? channel.finish(acceptAlreadyClosed: true) }
        var head = HTTPRequestHead(version: .http1_1, method: .POST, uri: "/")
        head.headers.add(name: "Content-Encoding", value: coding.lowercased())
        var inflated: [UInt8] = []
        do {
            try channel.writeInbound(HTTPServerRequestPart.head(head))
            try channel.writeInbound(HTTPServerRequestPart.body(ByteBuffer(bytes: body)))
            try channel.writeInbound(HTTPServerRequestPart.end(nil))
            while let part = try channel.readInbound(as: HTTPServerRequestPart.self) {
                if case .body(let buffer) = part { inflated += buffer.readableBytesView }
            }
        } catch let error as NIOHTTPDecompression.DecompressionError where error == .limit {
            throw .tooLarge
        } catch {
            throw .broken
        }
        return inflated
    }

    /// Inflates the body of a call in place. Returns the reason why it cannot be read, or nil on success.
    @inline(never)
    package static func inflate(_ call: inout VendorRequest, limitBytes: Int) -> AdapterError.Code? {
        let coding = call.headers[.contentEncoding] ?? ""
        do throws(BodyReader.Failure) {
            call.body = try inflated(call.body, coding: coding, limitBytes: limitBytes)
        } catch {
            return error == .tooLarge ? .tooLarge : .unreadable
        }
        call.headers[.contentEncoding] = nil
        return nil
    }

    /// As `inflate`, on the thread for large bodies: the result may have many megabytes, and a call must not keep its event loop for as long.
    package static func inflateLarge(_ call: inout VendorRequest, limitBytes: Int) async -> AdapterError.Code? {
        let (inflated, code) = await LargeBodies.parse { [call] () -> (VendorRequest, AdapterError.Code?) in
            var inflated = call
            let code = BodyInflater.inflate(&inflated, limitBytes: limitBytes)
            return (inflated, code)
        }
        call = inflated
        return code
    }
}
