package import Model
import PostgresClient

/// A stored answer, which is returned again when its call is repeated with the same repeat key.
package struct KeptAnswer: Sendable, Hashable {
    /// 256 KiB: enough for a device with thirty identities full of attributes. Rows of answers must not be larger than the devices that they describe.
    package static let limitBytes = 256 * 1024

    /// The HTTP status.
    package var status: Int
    package var body: [UInt8]

    package init(status: Int, body: [UInt8] = []) {
        self.status = status
        self.body = body
    }
}

/// A repeat key, and the answer that belongs to a result.
///
/// The change and its answer are one transaction. A caller that got no answer, because a node or the network failed, repeats the call with the same key
/// and gets the stored answer on any node. A refused call has no answer: it changes nothing and does not use up the key.
package struct Keep<Result>: Sendable {
    package var key: IdempotencyKey
    /// Pure. Called inside the transaction, and again if the transaction is repeated. Nil: nothing is stored.
    package var answer: @Sendable (Result) -> KeptAnswer?

    package init(_ key: IdempotencyKey, answer: @escaping @Sendable (Result) -> KeptAnswer?) {
        self.key = key
        self.answer = answer
    }
}

/// The outcome of a call with a repeat key.
package enum Kept<Result: Sendable>: Sendable {
    /// The call was carried out.
    case done(Result)
    /// The same call was carried out before. Contains its first answer.
    case repeated(KeptAnswer)
    /// The key was used before for a different call.
    case mismatch
    /// The answer exceeds the limit, so nothing was done.
    case tooLarge
}

extension Kept: Equatable where Result: Equatable {}
