import Crypto
import FoundationEssentials
import HTTPTypes
import Model

/// The id by which an answer can be found again. It is derived from the request, because an adapter has no randomness: the same call in the same
/// millisecond has the same id.
struct TrackingID: CustomStringConvertible {
    let description: String

    init(_ request: VendorRequest) {
        var hash = SHA256()
        let parts = [
            request.method.rawValue, request.path, request.query ?? "", request.remoteAddress ?? "",
            "\(request.receivedAt.milliseconds)", request.header("TrackingId") ?? "",
        ]
        for part in parts {
            hash.update(data: Array(part.utf8))
            hash.update(data: [0])
        }
        hash.update(data: request.body)
        description = UUID(bytes: Array(hash.finalize().prefix(16)))?.lowercased ?? ""
    }
}

extension TrackingID {
    /// A digest of these texts, 16 bytes.
    static func digest(_ parts: [String]) -> [UInt8] {
        var hash = SHA256()
        for part in parts {
            hash.update(data: Array(part.utf8))
            hash.update(data: [0])
        }
        return Array(hash.finalize().prefix(16))
    }
}

/// The format of a message id: `73622a22797441e4b434e8c2c14112ce-20260101000000-1-1` (docs/contracts/notificationhubs.md#7).
enum HubMessageID {
    static func text(_ id: MessageID) -> String {
        let bytes = id.rawValue.bytes
        // A message's id begins with its time (RFC 9562 §5.7).
        let time = bytes.prefix(6).reduce(Int64(0)) { $0 << 8 | Int64($1) }
        return "\(HexCoding.encode(bytes))-\(HubTime.compact(Timestamp(milliseconds: time)))-1-1"
    }

    /// Nil for any text that `text` does not produce; a schedule's id has underscores.
    static func parse(_ written: String) -> MessageID? {
        let text = written.replacing("_", with: "-")
        guard text.utf8.count <= 64, let head = text.split(separator: "-").first, head.utf8.count == 32,
            let uuid = HexCoding.decode(String(head)).flatMap({ UUID(bytes: $0) })
        else { return nil }
        let id = MessageID(rawValue: uuid)
        return Self.text(id) == text.lowercased() ? id : nil
    }
}
