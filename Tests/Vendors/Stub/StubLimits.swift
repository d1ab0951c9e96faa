/// Limits, each with the harm that it prevents or its source.
enum StubLimits {
    /// 16 KiB per body: more than its longest text and three ids.
    static let bodyBytes = 16 << 10
    /// 128 bytes per id: the store's limit for a device's key.
    static let identifierBytes = 128
    /// 2,048 bytes per text: it fits into a payload with all characters escaped.
    static let textBytes = 2048
    /// 16 characters per send key: a shorter key can be guessed.
    static let sendKeyBytes = 16
}
