/// The sizes that Apple documents for a push and its headers, and our own limits where Apple documents none.
package enum AppleLimits {
    /// 4,096 bytes of payload; APNs answers larger payloads with 413 (Apple, "Generating a remote notification").
    package static let payloadBytes = 4_096
    /// 5,120 bytes of payload for `voip` (same source).
    package static let voipPayloadBytes = 5_120
    /// 5,120 bytes of a broadcast's payload (Apple, "Sending broadcast push notification requests to APNs").
    package static let broadcastPayloadBytes = 5_120
    /// 64 bytes of collapse id (Apple, "Sending notification requests to APNs").
    package static let collapseIDBytes = 64
    /// 256 bytes for a topic with its suffix. A bundle id has at most 155 characters; a topic without a limit would not fit into a header block.
    package static let topicBytes = 256
    /// 256 bytes for a channel's id. Apple documents no length, and the id goes into a header of every broadcast.
    package static let channelIDBytes = 256
    /// 64 bytes of an unknown push type or of a caller's key are kept, because both appear in logs and labels.
    package static let labelBytes = 64
}
