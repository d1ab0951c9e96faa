import Model
import PageParts

/// A page of the counts of its range, of which `ReachFigures` reads the lines.
protocol ReachPage: ConsolePage {
    var title: Text { get }

    /// The page for an answer of the API.
    func counted(_ body: JSON, _ request: PageRequest) -> PageContent
}

extension ReachPage {
    var permission: Permission { .figures }

    func calls(_ request: PageRequest, _ answers: Answers) -> [APICall] {
        Reading.open([ReachFigures.call(path, request)], answers)
    }

    func export(_ request: PageRequest) -> APICall? { ReachFigures.call(path, request).exported(by: request) }

    func content(_ request: PageRequest, _ answers: Answers) throws(PageFailure) -> PageContent {
        if let refusal = ReachFigures.refusal(path, answers, title, request) { return refusal }
        var page = counted(try answers.required(path), request)
        page.permanent = ShownRange(request).permanent
        return page
    }
}
