import Model
import NIOConcurrencyHelpers

/// The message numbers that this node has drawn and not issued yet.
///
/// They are valid for the second in which they were drawn, because a later message must not have a smaller number. An app that sends rarely draws one
/// number at a time; an app that sends much draws growing blocks.
final class NumberPool: Sendable {
    struct Key: Hashable, Sendable {
        var tenant: TenantID
        var scope: AppScope
    }

    enum Taken: Equatable {
        case number(MessageNumber)
        /// The pool is empty: this many should be drawn, and the first of them belongs to the caller.
        case draw(Int)
    }

    /// 512 numbers at once, a twentieth of the 10,000 numbers of a second. With larger blocks, the numbers that nodes leave unused would exhaust the second.
    static let largestBlock = 512
    /// 10,000 apps are kept; above that all are removed, which only wastes numbers.
    static let keyLimit = 10_000

    private struct DrawnNumbers {
        var second: Int64
        var blocks: [MessageNumbers] = []
        var lastCount: Int
    }

    private let stocks = NIOLockedValueBox<[Key: DrawnNumbers]>([:])

    func take(_ key: Key, at second: Int64) -> Taken {
        stocks.withLockedValue { stocks in
            guard var stock = stocks[key], stock.second == second else { return .draw(1) }
            guard let number = stock.blocks.first?.first else {
                return .draw(min(stock.lastCount * 8, Self.largestBlock))
            }
            stock.blocks[0].first.rawValue += 1
            stock.blocks[0].count -= 1
            if stock.blocks[0].count == 0 { stock.blocks.removeFirst() }
            stocks[key] = stock
            return .number(number)
        }
    }

    /// Keeps a drawn block without its first number.
    func put(_ block: MessageNumbers, _ key: Key, at second: Int64) {
        stocks.withLockedValue { stocks in
            if stocks.count >= Self.keyLimit { stocks.removeAll(keepingCapacity: true) }
            var stock = stocks[key] ?? DrawnNumbers(second: second, lastCount: 1)
            if stock.second != second { stock = DrawnNumbers(second: second, lastCount: 1) }
            stock.lastCount = max(stock.lastCount, block.count)
            var rest = block
            rest.first.rawValue += 1
            rest.count -= 1
            if rest.count > 0 { stock.blocks.append(rest) }
            stock.blocks.sort { $0.first < $1.first }
            stocks[key] = stock
        }
    }
}
