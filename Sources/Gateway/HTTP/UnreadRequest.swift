package import Model

extension VendorRequest {
    /// The request without what was read of its body, which takes many times the memory of the body. For requests that are kept longer than their calls.
    package var unread: VendorRequest {
        var copy = self
        // Setting a field drops the reading.
        copy.headers = headers
        return copy
    }
}
