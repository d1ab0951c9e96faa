import Logging
import Model
import Testing

@testable import GatewayHTTP

/// The room for the values of bodies.
struct BodyValuesTests {
    // MARK: Counting

    private static func repeated(_ part: String, _ count: Int) -> String { String(repeating: part, count: count) }

    /// A list with that many values, itself included.
    private static func list(_ count: Int) -> [UInt8] { Array(("[" + repeated("0,", count - 2) + "0]").utf8) }

    private static func values(in json: JSON) -> Int {
        switch json {
        case .null, .bool, .number, .string: 1
        case .array(let array): array.reduce(1) { $0 + values(in: $1) }
        case .object(let object): object.pairs.reduce(1) { $0 + values(in: $1.value) }
        }
    }

    @Test func theCountIsNeverTooSmall() throws {
        let nested = Self.repeated("[", 60) + Self.repeated("]", 60)
        let parts = ["0", "[0]", "[],{}", #"{"":0}"#, #"{"a":[1,2],"b":{"c":null}} "#, nested]
        var texts = parts.map { "[" + Self.repeated($0 + ",", 300) + "0]" }
        texts.append("{" + (0..<1000).map { "\"k\($0)\":0" }.joined(separator: ",") + "}")
        for text in texts {
            let bytes = Array(text.utf8)
            let values = Self.values(in: try JSONParser.parse(bytes))
            let count = BodyValues.count(bytes)
            #expect(values > BodyValues.freeCount)
            #expect((values...2 * values).contains(count), "\(values) values, counted \(count): \(text.prefix(40))")
        }
    }

    @Test func shortBodiesAreNotCounted() {
        let longest = Self.list(BodyValues.freeCount)
        #expect(longest.count == 511)
        #expect(!BodyValues.mayBeMany(longest, query: nil))
        #expect(!BodyValues.mayBeMany([UInt8](repeating: 0x2C, count: 512), query: String(repeating: ",", count: 512)))
        #expect(BodyValues.mayBeMany([UInt8](repeating: 0x61, count: 513), query: nil))
        #expect(BodyValues.mayBeMany([], query: String(repeating: ",", count: 513)))
    }

    @Test func jsonInFormsTextsAndQueriesCounts() {
        let parts = ["%5B0%5D%2C", "%5b0%5d%2c", "%7B%7D,", #"\u005b0\u005d\u002c"#, "a=[0],&"]
        for part in parts {
            let text = Self.repeated(part, 1000)
            let found = BodyValues.count(Array(text.utf8))
            #expect(found >= 2001, "\(part): \(found)")
            #expect(BodyValues.count([], query: text) >= 2001, "\(part) in a query")
        }
    }

    // Texts of other alphabets and escaped quotes are no values, however they are encoded.
    @Test func textsDoNotCount() {
        for part in ["가나다 ", "%EA%B0%80", "\\uac00", #"\""#, "%22", "abc.def "] {
            let found = BodyValues.count(Array(Self.repeated(part, 1000).utf8))
            #expect(found <= BodyValues.freeCount, "\(part): \(found)")
        }
    }

    @Test func theLargestBodyHasItsRoom() {
        let count = BodyValues.count(Self.list(300_000))
        #expect(count == JSONParser.valueLimit && 4 * count == BodyValues.capacity)
    }

    // MARK: Room

    private func bodies(values: Int) -> LargeBodies {
        var settings = CallLimitSettings()
        settings.bodyWaitSeconds = 1
        let logger = Logger(label: "values") { _ in SwiftLogNoOpLogHandler() }
        return LargeBodies(limiter: CallLimiter(settings, logger: logger), values: values)
    }

    // Also while bytes are not limited.
    @Test func theValuesOfAllCallsAreBounded() async throws {
        let bodies = bodies(values: 2000)
        let first = try await bodies.room(valuesOf: Self.list(1000), address: "198.51.100.1")
        let second = try await bodies.room(valuesOf: Self.list(900), address: "198.51.100.2")
        #expect(first != nil && second != nil)
        await #expect(throws: LimitExcess(.values, wait: 1)) {
            try await bodies.room(valuesOf: Self.list(900), address: "198.51.100.3")
        }
        // Calls with few values do not wait, whatever others hold.
        let few = try await bodies.room(valuesOf: Self.list(BodyValues.freeCount), address: "198.51.100.3")
        #expect(few == nil)
        first?.release()
        let third = try await bodies.room(valuesOf: Self.list(900), address: "198.51.100.3")
        #expect(third != nil)
        second?.release()
        third?.release()
    }

    @Test func oneAddressHasHalfOfTheRoom() async throws {
        let bodies = bodies(values: 2000)
        let own = try await bodies.room(valuesOf: Self.list(900), address: "198.51.100.1")
        await #expect(throws: LimitExcess(.values, wait: 1)) {
            try await bodies.room(valuesOf: Self.list(900), address: "198.51.100.1")
        }
        let other = try await bodies.room(valuesOf: Self.list(900), address: "198.51.100.2")
        #expect(own != nil && other != nil)
        own?.release()
        other?.release()
    }

    @Test func aNativeCallWithoutRoomGetsTryAgain() async throws {
        let bodies = bodies(values: 1000)
        let limiter = CallLimiter(.off, logger: Logger(label: "values") { _ in SwiftLogNoOpLogHandler() })
        let first = NativeBodyReader(from: "198.51.100.1", bodies: bodies, limiter: limiter)
        let second = NativeBodyReader(from: "198.51.100.2", bodies: bodies, limiter: limiter)
        let list = Self.list(900)
        #expect(try await first.json(list).array?.count == 899)
        let problem = await #expect(throws: Problem.self) { try await second.json(list) }
        #expect(problem?.code == .rateLimited && problem?.retryAfterSeconds == 1)
        first.release()
        #expect(try await second.json(list).array?.count == 899)
        second.release()
    }
}
