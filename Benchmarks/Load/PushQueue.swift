import APNs
import ApplePayload
import FoundationEssentials
import Model

/// Pushes that wait in memory as token and id, 80 bytes each; their payloads are written when their batch is requested.
struct PushQueue: AsyncSequence, Sendable {
    private struct Waiting {
        let token: Addressee.Token
        let id: PushID
    }

    private let waiting: [Waiting]
    private let push: BenchPush

    /// Creates a queue of `count` pushes.
    init(count: Int, push: BenchPush) {
        waiting = (0..<count).map { Waiting(token: Addressee.token($0), id: Addressee.id($0)) }
        self.push = push
    }

    func makeAsyncIterator() -> Iterator { Iterator(queue: self) }

    /// Returns batch after batch.
    struct Iterator: AsyncIteratorProtocol {
        fileprivate let queue: PushQueue
        private var next = 0

        fileprivate init(queue: PushQueue) { self.queue = queue }

        mutating func next() async throws -> [Push]? {
            guard next < queue.waiting.count else { return nil }
            let numbers = next..<Swift.min(next + CoreLoad.batchCount, queue.waiting.count)
            next = numbers.upperBound
            var pushes: [Push] = []
            pushes.reserveCapacity(numbers.count)
            for (slot, number) in numbers.enumerated() {
                let waiting = queue.waiting[number]
                let token = DeviceToken(stored: Addressee.text(waiting.token))
                pushes.append(try queue.push.push(slot: slot, to: token, id: waiting.id))
            }
            return pushes
        }
    }
}
