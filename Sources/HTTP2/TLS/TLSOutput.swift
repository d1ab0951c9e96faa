internal import COpenSSL

/// The output of a TLS session for the socket. OpenSSL writes its records directly into it.
///
/// OpenSSL's own memory BIO would store them a second time and clear that memory afterwards: two more passes over every byte that is sent. Created and owned by
/// a `TLSEngine`, which outlives the BIO.
@safe
final class TLSOutput {
    /// Records that were not sent yet.
    var records = RawBytes()

    /// The BIO method, created once; nil without memory. It never changes after that, so any thread may use it.
    private nonisolated(unsafe) static let method: OpaquePointer? = {
        let index = BIO_get_new_index()
        guard index != -1, let method = unsafe BIO_meth_new(index | BIO_TYPE_SOURCE_SINK, "records") else { return nil }
        unsafe BIO_meth_set_write(method, writeRecords)
        unsafe BIO_meth_set_ctrl(method, controlRecords)
        return unsafe method
    }()

    /// A BIO that writes into this object, valid for the life of this object; nil without memory.
    func makeBIO() -> OpaquePointer? {
        guard let method = unsafe TLSOutput.method, let bio = unsafe BIO_new(method) else { return nil }
        unsafe BIO_set_data(bio, Unmanaged.passUnretained(self).toOpaque())
        unsafe BIO_set_init(bio, 1)
        return unsafe bio
    }
}

/// OpenSSL's write function. It accepts all bytes, or none if memory is exhausted.
private func writeRecords(_ bio: OpaquePointer?, _ bytes: UnsafePointer<CChar>?, _ count: Int32) -> Int32 {
    guard let data = unsafe BIO_get_data(bio), let bytes = unsafe bytes, count > 0 else { return -1 }
    let isKept = unsafe Unmanaged<TLSOutput>.fromOpaque(data)._withUnsafeGuaranteedRef { output in
        unsafe bytes.withMemoryRebound(to: UInt8.self, capacity: Int(count)) {
            unsafe output.records.append($0, count: Int(count))
        }
    }
    return isKept ? count : -1
}

/// OpenSSL's control function. OpenSSL requests a flush after each flight; other commands are not supported.
private func controlRecords(_: OpaquePointer?, _ command: Int32, _: Int, _: UnsafeMutableRawPointer?) -> Int {
    command == BIO_CTRL_FLUSH ? 1 : 0
}
