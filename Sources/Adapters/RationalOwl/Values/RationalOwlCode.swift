/// Every result code of `/pushApp`.
///
/// Closed: the apps of 2023 decode `rc` into exactly this set and fail on any other value. Source: the bridge class shipped with the vendor's samples
/// (docs/contracts/rationalowl.md#4.2).
package enum RationalOwlCode: Int, Sendable, CaseIterable {
    case ok = 1
    case unknown = -1
    /// The sender is not a message client of the account.
    case clientNotRegistered = -101
    /// Used for senders; documented for `installApp` too.
    case clientAlreadyRegistered = -102
    case accountNotRegistered = -201
    case accountAlreadyRegistered = -202
    case accountMismatch = -203
    case certificateMissing = -231
    case certificateAlreadyRegistered = -232
    case messageSettingDuplicate = -241
    case templateNotRegistered = -251
    case userAlreadyRegistered = -301
}
