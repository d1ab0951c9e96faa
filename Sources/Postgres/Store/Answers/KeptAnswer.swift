package import Model
import PostgresClient

/// An answer that is given again when its call comes again with the same repeat key.
package struct KeptAnswer: Sendable, Hashable {
    /// 256 KiB: a device with thirty identities full of attributes. Rows of answers must not outgrow the devices they tell of.
    package static let limitBytes = 256 * 1024

    /// Of HTTP.
    package var status: Int
    package var body: [UInt8]

    package init(status: Int, body: [UInt8] = []) {
        self.status = status
        self.body = body
    }
}

/// A repeat key, and which answer an act's result is.
///
/// The act and its answer are one transaction: whoever gets no answer, because a node died or the net broke, asks again with the same key and gets the
/// one that was kept, on any node. An act without an answer (a refusal) changes nothing, and leaves the key free.
package struct Keep<Result>: Sendable {
    package var key: IdempotencyKey
    /// Pure; called inside the transaction, and again if that is run again. Nil: nothing is kept.
    package var answer: @Sendable (Result) -> KeptAnswer?

    package init(_ key: IdempotencyKey, answer: @escaping @Sendable (Result) -> KeptAnswer?) {
        self.key = key
        self.answer = answer
    }
}

/// What came of an act under a repeat key.
package enum Kept<Result: Sendable>: Sendable {
    /// It was done now.
    case done(Result)
    /// The same call came before: its first answer.
    case repeated(KeptAnswer)
    /// The key came before with another call.
    case mismatch
    /// The answer is above the limit, so that nothing was done.
    case tooLarge
}

extension Kept: Equatable where Result: Equatable {}
