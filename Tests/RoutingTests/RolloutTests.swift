import Foundation
import Model
import ProgramSupport
import Routing
import TestKit
import Testing

/// Which users and devices a percentage takes.
@Suite struct RolloutTests {
    private func rollout(_ hundredths: Int, _ salt: String = "spring", by unit: Rollout.Unit = .user) throws -> Rollout
    {
        try #require(Rollout(hundredths: hundredths, by: unit, salt: salt))
    }

    // docs/routing.md: the table of the page, computed with sha256sum.
    @Test(arguments: [
        ("spring", "user-1", UInt32(1_182_305_394)), ("spring", "user-2", 3_338_875_603),
        ("spring", "홍길동", 3_998_414_727), ("autumn", "user-1", 2_303_891_367), ("spring", "", 29_089_149),
        ("spring", "d0d1d2d3d4d5d6d7d8d9dadbdcdddedf", 2_702_178_691),
    ])
    func theBucketIsTheFirstFourBytesOfTheDigest(_ salt: String, _ key: String, _ bucket: UInt32) {
        #expect(Rollout.bucket(of: key, salt: salt) == bucket)
    }

    @Test func aShellPrintsTheSameBuckets() async throws {
        let script = #"for n in 1 2 3 4 5 6 7 8; do printf "spring\0user-$n" | sha256sum | cut -c1-8; done"#
        let printed = try await ChildProgram.run("/bin/sh", ["-c", script]).output
        let buckets = printed.split(separator: "\n").compactMap { UInt32($0, radix: 16) }
        let own = (1...8).map { Rollout.bucket(of: "user-\($0)", salt: "spring") }
        #expect(buckets == own)
    }

    /// 50,000 keys in a test run, 1,000,000 in a long one (`LONG=1 scripts/test`). The bytes of each key are a file, because a process for each key takes too long.
    @Test func aShellPrintsTheSameBucketsOfManyKeys() async throws {
        let count = min(Fuzz.count * 100, 1_000_000)
        let folder = "\(ScratchFolder.root)/rollout-\(UUID())"
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let script = #"""
            mkdir "$1" && cd "$1" || exit 1
            first=0
            while [ "$first" -lt "$2" ]; do
              n=$first
              last=$((first + 9999))
              [ "$last" -lt "$2" ] || last=$(($2 - 1))
              while [ "$n" -le "$last" ]; do printf "spring\0u$n" > "$n"; n=$((n + 1)); done
              names=$(seq "$first" "$last")
              sha256sum $names | cut -c1-8
              rm $names
              first=$((last + 1))
            done
            """#
        let ending = try await ChildProgram.run("/bin/sh", ["-c", script, "sh", folder, "\(count)"])
        try #require(ending.status == 0, "\(ending.errors)")
        let printed = ending.output.split(separator: "\n")
        try #require(printed.count == count)
        for (number, line) in printed.enumerated() {
            let bucket = Rollout.bucket(of: "u\(number)", salt: "spring")
            guard UInt32(line, radix: 16) == bucket else {
                Issue.record("u\(number): \(bucket), and in a shell \(line)")
                return
            }
        }
    }

    // A wrong hash, or a byte of it that is not used, would miss one of these shares by more than 0.2 points.
    @Test func theSharesOfAMillionKeysAreThePercentages() throws {
        let steps = [1, 10, 100, 1000, 2000, 5000, 9999]
        let rollouts = try steps.map { try rollout($0) }
        var counts = [Int](repeating: 0, count: steps.count)
        var (sum, weighted): (UInt64, UInt64) = (0, 0)
        for number in 0..<1_000_000 {
            let bucket = Rollout.bucket(of: "u\(number)", salt: "spring")
            sum += UInt64(bucket)
            weighted += UInt64(number % 1000) * UInt64(bucket)
            // A member of one percentage is a member of every higher one.
            var wasInside = false
            for (place, rollout) in rollouts.enumerated() {
                let isInside = rollout.includes(bucket: bucket)
                if isInside { counts[place] += 1 }
                if wasInside && !isInside { Issue.record("u\(number) leaves at \(rollout.percent) %") }
                wasInside = isInside
            }
        }
        for (step, count) in zip(steps, counts) {
            #expect(abs(Double(count) / 10_000 - Double(step) / 100) < 0.2, "\(step)")
        }
        // The figures of docs/routing.md.
        let documented = [9857, 99_955, 200_103, 499_845]
        #expect(Array(counts[2...5]) == documented)
        // Those that PostgreSQL computes of the same keys (`RolloutSQLTests`).
        #expect(sum == 2_147_443_037_914_189 && weighted == 1_072_436_220_531_823_086)
    }

    @Test func noneAndAllAreExact() throws {
        for bucket in [UInt32.min, 1, 1 << 31, .max] {
            #expect(try !rollout(0).includes(bucket: bucket))
            #expect(try rollout(10_000).includes(bucket: bucket))
        }
        #expect(Rollout(hundredths: -1, by: .user, salt: "s") == nil)
        #expect(Rollout(hundredths: 10_001, by: .user, salt: "s") == nil)
    }

    // Another salt selects others: of the 10 % of one, about a tenth are in the 10 % of the other.
    @Test func anotherSaltSelectsOthers() throws {
        let (spring, autumn) = (try rollout(1000), try rollout(1000, "autumn"))
        let keys = (0..<20_000).map { "u\($0)" }.filter { spring.includes($0) }
        let both = keys.count { autumn.includes($0) }
        #expect((100...300).contains(both))
    }

    @Test func theKeyIsTheUserElseTheDevice() throws {
        let (byUser, byDevice) = (try rollout(1000), try rollout(1000, by: .device))
        let facts = RolloutFacts(user: "u", device: "d")
        #expect(byUser.key(of: facts) == "u" && byDevice.key(of: facts) == "d")
        #expect(byUser.key(of: RolloutFacts(device: "d")) == "d")
        #expect(byDevice.key(of: RolloutFacts(user: "u")) == nil && byUser.includes(RolloutFacts()) == nil)
    }

    @Test(arguments: [(0, "0"), (1, "0.01"), (25, "0.25"), (250, "2.5"), (1000, "10"), (10_000, "100")])
    func aPercentageIsSpelledAsInAFile(_ hundredths: Int, _ text: String) throws {
        #expect(try rollout(hundredths).percent == text)
    }
}
