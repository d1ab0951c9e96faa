import Model
package import PostgresClient

/// Finds the answer that is kept under a repeat key, with the digest of its call. Does not wait for a call that holds the key; nil: the key is free.
package struct FindKeptAnswer: StoreRead {
    package struct Found: Sendable, Hashable {
        package var bodyHash: String
        package var answer: KeptAnswer
    }

    let key: String

    package init(_ key: String) { self.key = key }

    package func statement(_ call: StoreCall) -> Statement { AnswerSQL.peek(.id(call.tenant), .string(key)) }

    package func read(_ result: ResultSet) throws(PostgresError) -> Found? {
        guard let row = result.first else { return nil }
        let answer = KeptAnswer(status: try row.int("status"), body: try row.bytes("answer"))
        return Found(bodyHash: try row.text("body_hash"), answer: answer)
    }
}
