import CNGHTTP2

/// HPACK decoding alone (RFC 7541), for a peer that reads frames on its own.
@safe
final class FieldDecoder {
    private let handle: OpaquePointer

    init?() {
        var handle: OpaquePointer?
        guard unsafe nghttp2_hd_inflate_new(&handle) == 0, let handle = unsafe handle else { return nil }
        unsafe self.handle = handle
    }

    deinit { unsafe nghttp2_hd_inflate_del(handle) }

    /// The fields of one complete block, or nil if it is malformed.
    func fields(_ block: [UInt8]) -> [(String, String)]? {
        var fields: [(String, String)] = []
        var offset = 0
        while true {
            var field = unsafe nghttp2_nv()
            var flags: Int32 = 0
            let used = unsafe block.withUnsafeBufferPointer { bytes in
                unsafe nghttp2_hd_inflate_hd2(
                    handle,
                    &field,
                    &flags,
                    bytes.baseAddress.map { unsafe $0 + offset },
                    bytes.count - offset,
                    1
                )
            }
            guard used >= 0 else { return nil }
            offset += used
            if flags & Int32(NGHTTP2_HD_INFLATE_EMIT.rawValue) != 0 {
                let name = unsafe String(
                    decoding: UnsafeBufferPointer(start: field.name, count: field.namelen),
                    as: UTF8.self
                )
                let value = unsafe String(
                    decoding: UnsafeBufferPointer(start: field.value, count: field.valuelen),
                    as: UTF8.self
                )
                fields.append((name, value))
            }
            if flags & Int32(NGHTTP2_HD_INFLATE_FINAL.rawValue) != 0 {
                unsafe nghttp2_hd_inflate_end_headers(handle)
                return fields
            }
            if used == 0, flags & Int32(NGHTTP2_HD_INFLATE_EMIT.rawValue) == 0 { return nil }
        }
    }
}
