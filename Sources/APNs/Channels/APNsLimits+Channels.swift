/// The bounds of answers and channels; they are Apple's own where a page is named.
extension APNsLimits {
    /// 10,000 channels per app and environment (Apple, "Sending channel management requests to APNs"); a longer list is not believed.
    package static let maxChannels = 10_000
    /// 1 MiB of a list of channels: 10,000 ids of the usual 24 bytes are a quarter of it.
    package static let maxChannelListBytes = 1_048_576
    /// 4 KiB of an answer or a GOAWAY are searched for a reason: a peer must not buy our time with a long body.
    package static let maxReasonBodyBytes = 4 * 1024
}
