import Testing

@testable import APNsSimulator

@Suite struct FingerprintSetTests {
    @Test func holdsEveryFingerprintOnceWhileItGrows() {
        var set = FingerprintSet(limit: 100_000)
        for number in 0..<50_000 { #expect(set.insert(Self.fingerprint(number)) == .added) }
        for number in 0..<50_000 { #expect(set.insert(Self.fingerprint(number)) == .present) }
        #expect(set.count == 50_000)
    }

    @Test func aboveItsLimitTheResultIsUnknown() {
        var set = FingerprintSet(limit: 2)
        #expect(set.insert(7) == .added)
        #expect(set.insert(8) == .added)
        #expect(set.insert(9) == .untracked)
        #expect(set.insert(8) == .present)
    }

    @Test func zeroIsAFingerprintLikeAnyOther() {
        var set = FingerprintSet(limit: 10)
        #expect(set.insert(0) == .added)
        #expect(set.insert(0) == .present)
    }

    @Test func letterCaseDoesNotMatter() {
        var lower = Fingerprint()
        var upper = Fingerprint()
        lower.combine("abcdef01-9f")
        upper.combine("ABCDEF01-9F")
        #expect(lower.value == upper.value)
    }

    private static func fingerprint(_ number: Int) -> UInt64 {
        var fingerprint = Fingerprint()
        fingerprint.combine(String(number))
        return fingerprint.value
    }
}
