/// A digest of what a message shows: equal for messages with the same text, whatever dialect they came in.
package struct MessageFingerprint: Sendable, Hashable {
    package let bytes: [UInt8]

    package init(bytes: [UInt8]) {
        self.bytes = bytes
    }
}
