import Model
import RationalOwl
import Testing

/// Settings of a binding, docs/contracts/rationalowl.md#15.
struct RationalOwlSettingsTests {
    @Test func defaultsMatchTheContract() {
        let settings = RationalOwlSettings(.unbound)
        #expect(settings.profile == .auto)
        #expect(settings.msgInfoCommandID == nil)
        #expect(settings.alreadyCode == .fixed(.clientAlreadyRegistered))
        #expect(!settings.isServiceIDStrict)
        #expect(settings.androidCommentKey == "cmt")
        #expect(settings.timeToLive == .seconds(72 * 3600))
        #expect(settings.timeZone == "Asia/Seoul")
    }

    /// An invalid value in a running gateway is replaced by the default and never causes a failure.
    @Test func invalidValuesLeaveTheDefaults() {
        let values = keyed([
            "compat": ["profile": "latest", "msgInfoCid": 999], "installApp.alreadyCode": [1],
            "timezone": "Mars/Base",
            "push.ttlHours": 0, "verify.commentKeyAndroid": "comment", "usRid": "",
        ])
        #expect(RationalOwlSettings(BindingSettings(values: values)) == RationalOwlSettings(.unbound))
        #expect(RationalOwlSettings.declared.problems(in: values).count == 7)
    }

    /// Unknown keys stop the provisioning.
    @Test func unknownKeysAreProblemsAndKnownOnesAreNot() {
        let good = keyed([
            "compat": ["profile": "doc2023", "msgInfoCid": "303"], "installApp.alreadyCode": "hello app",
            "auth": ["ttl": 180, "maxTries": 5, "testCodes": ["01022221111": "1111"]],
            "fallback.sendingNumbers": ["02-1234-5678"],
            "timezone": "Europe/Berlin", "push": ["ttlHours": 24, "timeSensitive": true],
        ])
        #expect(RationalOwlSettings.declared.problems(in: good).isEmpty)
        #expect(
            RationalOwlSettings.declared.problems(in: keyed(["compat.profil": "auto"])) == [
                "compat.profil: unknown setting"
            ]
        )
    }
}
