/// Sizes, each with the harm that it prevents or its source.
enum StubLimits {
    /// 16 KiB of a body: more than its longest text and three ids.
    static let bodyBytes = 16 << 10
    /// 128 bytes of an id: what the store keeps of a device's key.
    static let identifierBytes = 128
    /// 2,048 bytes of a text: it fits into a payload with all characters escaped.
    static let textBytes = 2048
    /// 16 characters of a send key: a shorter one can be guessed.
    static let sendKeyBytes = 16
}
