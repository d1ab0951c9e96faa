import HTTPTypes
import Testing

@testable import GatewayHTTP

/// Compressed bodies (docs/contracts/braze.md#3.1).
struct BodyInflaterTests {
    private static func bytes(_ hex: String) -> [UInt8] {
        let digits = Array(hex)
        return stride(from: 0, to: digits.count - 1, by: 2).compactMap { UInt8(String(digits[$0...$0 + 1]), radix: 16) }
    }

    private static let text = #"{"device_id":"d"}"#
    /// `text` compressed with zlib's gzip and deflate (Python 3.11).
    private static let gzip = bytes("1f8b0800000000000203ab564a492dcb4c4e8dcf4c51b2524a51aa0500f068c06911000000")
    private static let deflate = bytes("789cab564a492dcb4c4e8dcf4c51b2524a51aa0500369905bb")
    /// 4,096 zeros, compressed in the same way: 38 bytes.
    private static let zeros = bytes(
        "1f8b0800000000000203edc1010d000000c2a0f74f6d0f0714000000f06e11001cc700100000"
    )

    private func inflated(_ body: [UInt8], _ coding: String = "gzip", limit: Int = 4096) throws -> [UInt8] {
        try BodyInflater.inflated(body, coding: coding, limitBytes: limit)
    }

    @Test func compressedBodiesAreInflated() throws {
        #expect(try inflated(Self.gzip) == Array(Self.text.utf8))
        #expect(try inflated(Self.gzip, "GZIP") == Array(Self.text.utf8))
        #expect(try inflated(Self.deflate, "deflate") == Array(Self.text.utf8))
        #expect(try inflated(Self.zeros) == Array(repeating: 0, count: 4096))
    }

    // I5: a few bytes must not become a large body.
    @Test func oversizedOutputIsRefused() {
        #expect(throws: BodyReader.Failure.tooLarge) { try inflated(Self.zeros, limit: 4095) }
    }

    @Test func invalidStreamsAreRefused() {
        for count in 0..<Self.gzip.count {
            #expect(throws: BodyReader.Failure.broken, "\(count) bytes") {
                try inflated(Array(Self.gzip.prefix(count)))
            }
        }
        for body in [Self.gzip + [0], Self.gzip + Self.gzip, Array(Self.text.utf8)] {
            #expect(throws: BodyReader.Failure.broken) { try inflated(body) }
        }
        // A change of any byte breaks the stream or, in unused parts of the header, leaves the text unchanged.
        for place in Self.gzip.indices {
            var body = Self.gzip
            body[place] ^= 0x55
            #expect(((try? inflated(body)) ?? Array(Self.text.utf8)) == Array(Self.text.utf8), "byte \(place)")
        }
    }

    @Test func onlyDeclaredEncodingsAreInflated() {
        #expect(
            BodyInflater.isNeeded([.contentEncoding: "gzip"]) && BodyInflater.isNeeded([.contentEncoding: "Deflate"])
        )
        #expect(!BodyInflater.isNeeded([:]) && !BodyInflater.isNeeded([.contentEncoding: "br"]))
    }
}
