import CNGHTTP2
import Glibc

/// Reads header blocks with libnghttp2's HPACK decoder, to get the one field that the answer repeats.
///
/// Every block is decoded completely. This detects clients that violate HPACK, and the cost is that of a real server.
@safe
final class FieldReader {
    /// Freed in `deinit`.
    private let inflater: OpaquePointer

    /// Creates a decoder for one connection.
    ///
    /// - Throws: `failed` without memory.
    init() throws(ServerError) {
        var inflater: OpaquePointer?
        guard unsafe nghttp2_hd_inflate_new(&inflater) == 0, let inflater = unsafe inflater else {
            throw .failed("nghttp2_hd_inflate_new")
        }
        unsafe self.inflater = inflater
    }

    deinit { unsafe nghttp2_hd_inflate_del(inflater) }

    /// The block's `apns-id`, or zeros if it contains none of 36 bytes.
    ///
    /// - Throws: `connection` if the block is not valid HPACK.
    func apnsID(in block: UnsafePointer<UInt8>, count: Int) throws(ServerError) -> ApnsID {
        var id = ApnsID(repeating: 0)
        var (next, left) = unsafe (block, count)
        while true {
            var field = unsafe nghttp2_nv()
            var flags: Int32 = 0
            let used = unsafe nghttp2_hd_inflate_hd2(inflater, &field, &flags, next, left, 1)
            guard used >= 0 else { throw .connection("header block") }
            unsafe next += used
            left -= used
            if flags & Int32(NGHTTP2_HD_INFLATE_EMIT.rawValue) != 0, unsafe isApnsID(field) {
                for index in 0..<36 { unsafe id[index] = field.value[index] }
            }
            if flags & Int32(NGHTTP2_HD_INFLATE_FINAL.rawValue) != 0 { break }
            // For a block that ends inside a field, the decoder neither emits a field nor finishes.
            if used == 0, flags == 0 { throw .connection("header block") }
        }
        _ = unsafe nghttp2_hd_inflate_end_headers(inflater)
        return id
    }

    private func isApnsID(_ field: nghttp2_nv) -> Bool {
        let name: StaticString = "apns-id"
        return unsafe field.namelen == 7 && field.valuelen == 36 && memcmp(field.name, name.utf8Start, 7) == 0
    }
}
