import Testing

@testable import HTTP2

/// The order in which a dial tries addresses.
struct AddressBookTests {
    private let start = ContinuousClock.now
    private func address(_ number: UInt8, family: Int32 = 2) -> SocketAddress {
        SocketAddress(bytes: [number], family: family)
    }

    // docs/contracts/apns.md#11.4: unused addresses come first.
    @Test func leastUsedComesFirstElseTheResolversOrder() {
        let book = AddressBook()
        let all = [address(1), address(2), address(3)]
        #expect(book.ordered(all, now: start) == all)
        book.connected(address(1))
        book.connected(address(2))
        book.connected(address(2))
        #expect(book.ordered(all, now: start) == [address(3), address(1), address(2)])
        book.released(address(2))
        book.released(address(2))
        book.released(address(2))
        #expect(book.ordered(all, now: start) == [address(2), address(3), address(1)])
    }

    @Test func addressThatFailedComesLastForAMinuteOrUntilItWorks() {
        let book = AddressBook()
        let all = [address(1), address(2)]
        book.failed(address(1), now: start)
        #expect(book.ordered(all, now: start + .seconds(59)) == [address(2), address(1)])
        #expect(book.ordered(all, now: start + .seconds(60)) == all)
        book.failed(address(1), now: start)
        book.connected(address(1))
        book.released(address(1))
        #expect(book.ordered(all, now: start) == all)
    }

    // RFC 8305 §4.
    @Test func familiesTakeTurns() {
        let book = AddressBook()
        let (a, b, c) = (address(1, family: 10), address(2, family: 10), address(3, family: 10))
        let (x, y) = (address(4), address(5))
        #expect(book.ordered([a, b, c, x], now: start) == [a, x, b, c])
        #expect(book.ordered([x, y, a], now: start) == [x, a, y])
        #expect(book.ordered([], now: start) == [])
    }

    @Test func failuresAreBounded() {
        let book = AddressBook()
        for number in 0..<3_000 {
            book.failed(
                SocketAddress(bytes: [UInt8(number >> 8), UInt8(number & 255)], family: 2),
                now: start + .milliseconds(number)
            )
        }
        let newest = SocketAddress(bytes: [UInt8(2_999 >> 8), UInt8(2_999 & 255)], family: 2)
        let oldest = SocketAddress(bytes: [0, 0], family: 2)
        #expect(
            book.ordered([newest, oldest], now: start + .seconds(4)) == [oldest, newest],
            "the oldest is forgotten"
        )
    }
}
