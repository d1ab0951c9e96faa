package import HTTP2

/// A session's input and output as arrays.
extension Session {
    package func receive(_ bytes: [UInt8]) throws(HTTP2Error) {
        try unsafe bytes.withUnsafeBufferPointer { (buffer) throws(HTTP2Error) in try unsafe receive(buffer) }
    }

    /// All bytes for the peer, in order. `dispatched`: fields to add to each request that is started by this call.
    package func output(dispatched: HeaderBlock? = nil) throws(HTTP2Error) -> [UInt8] {
        var output = RawBytes()
        var all: [UInt8] = []
        repeat {
            output.removeAll()
            try write(into: &output, dispatched: dispatched)
            unsafe all.append(contentsOf: output.unread)
        } while !output.isEmpty
        return all
    }
}
