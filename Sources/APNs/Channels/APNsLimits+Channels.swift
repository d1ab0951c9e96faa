/// The limits of answers and channels; where a page is named, the limit is Apple's.
extension APNsLimits {
    /// 10,000 channels per app and environment (Apple, "Sending channel management requests to APNs"); a longer list is not accepted.
    package static let maxChannels = 10_000
    /// 1 MiB for a list of channels: 10,000 ids of the usual 24 bytes need a quarter of it.
    package static let maxChannelListBytes = 1_048_576
    /// Only 4 KiB of an answer or a GOAWAY are searched for a reason: a long body must not cost much time.
    package static let maxReasonBodyBytes = 4 * 1024
}
