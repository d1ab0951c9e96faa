import PageParts

/// The notes and reasons of migrations in both languages. The API has them in English; one that this version does not know is shown as it is.
enum MigrationNotes {
    static func text(_ english: String, _ words: Wording) -> String {
        guard words.language == .ko else { return english }
        switch english {
        case "by an operator": return "운영자가 되돌렸습니다."
        case "everything is proxied": return "모든 호출을 벤더로 보냅니다"
        case "sends are proxied": return "발신을 벤더로 보냅니다"
        case "evaluated": return "조건을 확인했습니다"
        case "planned": return "계획을 등록했습니다"
        default: break
        }
        if let reason = EnglishSentence.middle(of: english, "halted: ", "") { return "멈춤: \(text(reason, words))" }
        if let reason = EnglishSentence.middle(of: english, "rolled back: ", "") {
            return "되돌림: \(text(reason, words))"
        }
        if let stage = EnglishSentence.middle(of: english, "paused in ", "") {
            return "일시 중지: \(self.stage(stage, words))"
        }
        if let stage = EnglishSentence.middle(of: english, "", " is in force") {
            return "단계 시작: \(self.stage(stage, words))"
        }
        if let stage = EnglishSentence.middle(of: english, "", " is complete") {
            return "단계 완료: \(self.stage(stage, words))"
        }
        return failure(english, words) ?? english
    }

    private static func stage(_ stage: String, _ words: Wording) -> String { words(MigrationsText.stage(stage)) }

    /// `receipts failed: 0.91 of 812 samples, the limit is 0.97`, or `of 812 recent samples`
    private static func failure(_ english: String, _ words: Wording) -> String? {
        let parts = english.split(separator: " ", maxSplits: 2).map(String.init)
        guard parts.count >= 2, parts[1] == "failed" || parts[1] == "failed:" else { return nil }
        let name = words(MigrationsText.metricName(parts[0]))
        guard parts.count == 3, let limit = parts[2].firstRange(of: ", the limit is "),
            let of = parts[2].firstRange(of: " of "), of.upperBound <= limit.lowerBound,
            let samples = EnglishSentence.middle(of: String(parts[2][of.upperBound..<limit.lowerBound]), "", " samples")
        else { return "\(name) 조건에 실패했습니다." }
        let value = parts[2][..<of.lowerBound]
        let recent = EnglishSentence.middle(of: samples, "", " recent").map { "최근 표본 \($0)" }
        return
            "\(name) 조건에 실패했습니다. 값 \(value), \(recent ?? "표본 \(samples)"), 기준 \(parts[2][limit.upperBound...])"
    }
}
