import PageParts

enum TemplateText {
    /// 128 bytes of a name, as the native API.
    static let nameLimit = 128

    static let title = Text(ko: "템플릿", en: "Templates")
    static let template = Text(ko: "템플릿 내용", en: "Content")
    static let drafts = Text(ko: "임시 저장", en: "Drafts")
    static let name = Text(ko: "이름", en: "Name")
    static let nameHint = Text(
        ko: "최대 128바이트이며 draft-로 시작할 수 없습니다.",
        en: "At most 128 bytes, and not beginning with draft-."
    )
    static let changed = Text(ko: "변경 시각", en: "Changed")
    static let by = Text(ko: "변경한 사람", en: "Changed by")
    static let action = Text(ko: "작업", en: "Action")
    static let use = Text(ko: "이 템플릿으로 작성", en: "Use template")
    static let resume = Text(ko: "이어서 작성", en: "Continue draft")
    static let remove = Text(ko: "삭제", en: "Delete")
    static let removed = Text(ko: "삭제했습니다.", en: "Deleted.")
    static let gone = Text(ko: "이미 삭제되었습니다.", en: "It had been deleted already.")
    static let new = Text(ko: "새 템플릿", en: "New template")
    static let create = Text(ko: "템플릿 만들기", en: "Create template")
    static func none(_ app: String) -> Text {
        Text(ko: "\(app)에는 아직 템플릿이 없습니다.", en: "\(app) has no templates yet.")
    }
    static let how = Text(
        ko: "이름을 입력하여 템플릿을 만들면 메시지를 작성할 때 선택할 수 있습니다.",
        en: "Enter a name and create a template. It can then be chosen for a message."
    )
    static func count(_ count: Int, _ app: String, isMore: Bool) -> Text {
        let number = isMore ? "\(count)+" : "\(count)"
        return Text(
            ko: "\(app)의 템플릿은 \(number)개입니다.",
            en: "\(app) has \(number, one: "template")."
        )
    }

    static let unknown = Text(
        ko: "이 이름의 템플릿이 없습니다. 저장하면 새로 만듭니다.",
        en: "No template has this name yet. Save it to create it."
    )
    static func saved(_ author: String, _ time: String) -> Text {
        Text(ko: "\(time)에 \(author)이(가) 마지막으로 저장했습니다.", en: "Last saved by \(author) at \(time).")
    }
    static func copied(_ name: String) -> Text {
        Text(
            ko: "\(name) 템플릿의 사본입니다. 저장하면 새로 만듭니다.",
            en: "This is a copy of the template \(name). Save it to create it."
        )
    }
    static let duplicate = Text(ko: "템플릿 복제", en: "Duplicate template")
    static let taken = Text(ko: "이 이름의 템플릿이 이미 있습니다.", en: "A template of this name exists already.")
    static let save = Text(ko: "템플릿 저장", en: "Save template")
    static let isSaved = Text(ko: "템플릿을 저장했습니다.", en: "The template is saved.")
    static let variables = Text(ko: "변수", en: "Variables")
    static let variable = Text(ko: "변수", en: "Variable")
    static let noVariables = Text(
        ko: "변수가 없습니다. 본문에 #{이름} 형태로 쓰면 발신할 때 값을 입력합니다.",
        en: "The template has no variables. Write #{name} in the text, and its value is asked for in the review."
    )

    static func conflict(_ author: String, _ time: String) -> Text {
        Text(
            ko: "\(author)이(가) \(time)에 이 템플릿을 변경했습니다. 입력한 내용은 아직 저장되지 않았습니다. 두 버전을 비교하십시오.",
            en: "\(author) changed this template at \(time). Your changes are not saved yet. Compare the two versions."
        )
    }
    static let removedMeanwhile = Text(
        ko: "다른 사람이 이 템플릿을 삭제했습니다. 입력한 내용은 아직 저장되지 않았습니다.",
        en: "This template was deleted by another person. Your changes are not saved yet."
    )
    static let changedMeanwhile = Text(
        ko: "다른 사람이 그사이 변경했습니다. 변경된 내용은 없습니다.",
        en: "Another person changed it meanwhile. Nothing was saved."
    )
    static let mine = Text(ko: "내 버전 (저장 안 됨)", en: "Your version (not saved)")
    static func theirs(_ author: String) -> Text {
        Text(ko: "\(author)의 버전 (저장됨)", en: "Version of \(author) (saved)")
    }
    static let keepMine = Text(ko: "내 버전으로 저장", en: "Save your version")
    static let keepTheirs = Text(ko: "저장된 버전 사용", en: "Use the saved version")
    static let difference = Text(ko: "차이", en: "Difference")
}
