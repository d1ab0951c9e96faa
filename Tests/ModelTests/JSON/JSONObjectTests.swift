import Model
import TestKit
import Testing

/// The ordered object, compared with the simplest implementation of the same behavior.
@Suite struct JSONObjectTests {
    // Small objects are searched, large ones are indexed: across the border in both directions.
    @Test(arguments: 0..<200 as Range<UInt64>)
    func behavesAsAListOfPairs(seed: UInt64) {
        var random = SplitMix(state: seed)
        var object = JSONObject()
        var list: [(key: String, value: JSON)] = []
        for _ in 0..<120 {
            let key = "k\(random.next() % 30)"
            let value = random.next() % 4 == 0 ? nil : JSON.int(Int(random.next() % 1000))
            object[key] = value
            let place = list.firstIndex { $0.key == key }
            switch (place, value) {
            case (let place?, let value?): list[place].value = value
            case (let place?, nil): list.remove(at: place)
            case (nil, let value?): list.append((key, value))
            case (nil, nil): break
            }
            #expect(object.keys == list.map(\.key))
            #expect(object.pairs.map(\.value) == list.map(\.value))
            #expect(object.count == list.count && object.isEmpty == list.isEmpty)
            for number in 0..<30 {
                #expect(object["k\(number)"] == list.first { $0.key == "k\(number)" }?.value)
            }
        }
    }

    @Test(arguments: [1, 5, 16, 17, 40])
    func orderDoesNotAffectEquality(count: Int) {
        let pairs = (0..<count).map { ("k\($0)", JSON.int($0)) }
        let (one, other) = (JSONObject(pairs), JSONObject(pairs.reversed()))
        #expect(one == other && one.hashValue == other.hashValue)
        var changed = other
        changed["k0"] = .null
        #expect(one != changed)
        changed["k0"] = nil
        changed["x"] = .int(0)
        #expect(one != changed && changed.count == one.count)
    }
}
