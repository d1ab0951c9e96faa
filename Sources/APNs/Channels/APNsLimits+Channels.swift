/// The bounds of payloads, answers and channels; they are Apple's own where a page is named.
extension APNsLimits {
    /// 5120 bytes of a broadcast's payload (Apple, "Sending broadcast push notification requests to APNs").
    package static let maxBroadcastPayloadBytes = 5_120
    /// 256 bytes of a channel's id: Apple names no length, and it goes into a header of every broadcast.
    package static let maxChannelIDBytes = 256
    /// 10,000 channels per app and environment (Apple, "Sending channel management requests to APNs"); a longer list is not believed.
    package static let maxChannels = 10_000
    /// 1 MiB of a list of channels: 10,000 ids of the usual 24 bytes are a quarter of it.
    package static let maxChannelListBytes = 1_048_576
    /// 4 KiB of an answer or a GOAWAY are searched for a reason: a peer must not buy our time with a long body.
    package static let maxReasonBodyBytes = 4_096
}
