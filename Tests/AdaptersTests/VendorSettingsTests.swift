import Model
import Testing

/// Settings are read by dotted paths, and every other key is an error.
struct VendorSettingsTests {
    private let settings = VendorSettings([
        VendorSetting("push.ttlHours", "Hours.") { $0.int != nil },
        VendorSetting("names", "A mapping.") { $0.object != nil },
    ])

    @Test func nestedAndDottedKeysAreTheSame() {
        #expect(settings.problems(in: ["push": ["ttlHours": 5], "names": ["a": "b"]]) == [])
        #expect(settings.problems(in: ["push.ttlHours": 5]) == [])
        #expect(settings.problems(in: ["push": ["ttlHours": "x"]]) == ["push.ttlHours: not an accepted value"])
    }

    // An empty mapping, or one without any known key, must not pass.
    @Test(
        arguments: [
            (["push": ["ttl": 5]], "push.ttl: unknown setting"), (["pushes": [:]], "pushes: unknown setting"),
            (["names.a": 1], "names.a: unknown setting"),
        ] as [(JSON, String)]
    )
    func unknownKeysAreNamed(_ values: JSON, _ problem: String) {
        #expect(settings.problems(in: values.object ?? JSONObject()) == [problem])
    }
}
