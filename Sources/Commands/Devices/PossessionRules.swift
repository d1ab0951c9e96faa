package import Model
package import Store

/// The rules by which a device shows that it has its push token: it answers a nonce that was sent to the token.
package enum PossessionRules {
    /// 10 minutes: a silent push may be delayed by the push service, and a nonce that was read elsewhere must not be useful for long.
    package static let lifetime = Duration.seconds(600)
    /// 128 bits, as 32 hexadecimal digits.
    package static let nonceBytes = 16

    /// Begins a challenge. The answer says where the nonce is to be sent; nil if the device does not exist. `digest`: SHA-256 of the nonce, which is not stored.
    package static func start(_ device: DeviceID, digest: [UInt8], at now: Timestamp) -> StoreRequest<
        ChallengedDevice?
    > {
        StoreRequest(StartChallenge(device, digest: digest, at: now, endsAt: now + lifetime)) { $0 }
    }

    /// Uses up a challenge. The answer is whether the nonce was right, in time, and sent to the present token of its device.
    package static func answer(digest: [UInt8]) -> StoreRequest<Bool> {
        StoreRequest(AnswerChallenge(digest: digest)) { $0 }
    }
}
