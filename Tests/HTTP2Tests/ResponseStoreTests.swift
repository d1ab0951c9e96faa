import Testing

@testable import HTTP2

/// The shared memory of many answers.
struct ResponseStoreTests {
    private let names = [FieldName("x-a"), FieldName("x-b")]

    private func append(_ bytes: [UInt8], to store: ResponseStore) -> Int? {
        unsafe bytes.withUnsafeBufferPointer { unsafe store.append($0) }
    }

    @Test func answersSideBySideKeepTheirOwnBytes() throws {
        let store = try #require(ResponseStore(names: names, capacity: 64))
        let first = try #require(append([0, 2, 0, 65, 66, 1, 1, 0, 67] + [1, 2, 3], to: store))
        let second = try #require(append([1, 1, 0, 68], to: store))
        let one = Response(status: 200, store: store, start: first, fieldBytes: 9, bodyBytes: 3, isBodyTruncated: false)
        let two = Response(
            status: 201,
            store: store,
            start: second,
            fieldBytes: 4,
            bodyBytes: 0,
            isBodyTruncated: false
        )
        #expect(one.value(names[0]) == "AB")
        #expect(one.value(names[1]) == "C")
        #expect(Array(one.body) == [1, 2, 3])
        #expect(two.value(names[0]) == nil)
        #expect(two.value(names[1]) == "D")
        #expect(two.body.isEmpty)
    }

    @Test func fullStoreRefusesAnswers() throws {
        let store = try #require(ResponseStore(names: names, capacity: 4))
        #expect(append([1, 2, 3, 4, 5], to: store) == nil)
        #expect(append([1, 2, 3, 4], to: store) == 0)
        #expect(append([1], to: store) == nil)
    }

    @Test func resultIsSmallEnoughToBeMovedByValue() {
        #expect(MemoryLayout<Completion>.size <= 112)
    }
}

/// Deadlines as numbers.
struct MomentTests {
    @Test func orderAndValueSurviveTheConversion() {
        let now = ContinuousClock.now
        for offset in [Duration.zero, .nanoseconds(1), .milliseconds(-5), .seconds(86_400)] {
            #expect(Moment(now + offset).instant == now + offset)
        }
        #expect(Moment(now) < Moment(now + .nanoseconds(1)))
        #expect(Moment(now + .nanoseconds(-1)) < Moment(now))
    }

    @Test func farAwayInstantsAreClampedNotTrapped() {
        let far = ContinuousClock.now + .seconds(Int64.max / 2)
        #expect(Moment(far) == .never)
        #expect(Moment(ContinuousClock.now + .seconds(Int64.min / 4)) < Moment(.now))
    }
}
