/** A service whose recalls are all recorded, and a browser to look at its console. */ import { join } from "node:path";
import { expect } from "vitest";
import { temporaryFolder } from "../../libs/testing/src/index.js";
import { analysisAnswer } from "./analysis-answers.js";
import { launchBrowser, Visit } from "./browser.js";
import { Service } from "./service.js";
const DAYPARTS = [
    'morning',
    'afternoon',
    'evening',
    'night'
];
const HEADERS = {
    'x-tessera-console': '1',
    'content-type': 'application/json'
};
export class ConsoleVisits {
    service;
    browser;
    folder;
    visit;
    look;
    constructor(service, browser, folder, visit, /** Sees rich answers of the analysis. */ look){
        this.service = service;
        this.browser = browser;
        this.folder = folder;
        this.visit = visit;
        this.look = look;
    }
    /** With some recalls of users 1 to 6. */ static async open() {
        const folder = temporaryFolder({});
        const at = (name)=>join(folder.path, name);
        const starting = Service.start({
            TESSERA_CATALOGUE_CACHE_PATH: at('cache'),
            TESSERA_CATALOGUE_CHANGES_PATH: at('changes'),
            TESSERA_BEHAVIOURS_STORE: 'embedded',
            TESSERA_BEHAVIOURS_PATH: at('behaviours'),
            TESSERA_INSPECTION_PATH: at('inspection'),
            TESSERA_INSPECTION_PERCENT: '100',
            TESSERA_ADAPTERS_PATH: at('adapters')
        });
        const [service, browser] = await Promise.all([
            starting,
            launchBrowser()
        ]);
        const visit = await Visit.open(browser, service.httpUrl);
        const look = await Visit.open(browser, service.httpUrl);
        await look.page.route('**/console/api/analysis/**', (route)=>route.fulfill({
                json: analysisAnswer(route.request().url())
            }));
        const visits = new ConsoleVisits(service, browser, folder, visit, look);
        for(let round = 0; round < 4; round += 1){
            await visits.recallsAs([
                '1',
                '2',
                '3',
                '4',
                '5',
                '6'
            ], round);
        }
        return visits;
    }
    async api(path, body) {
        const sent = body && {
            method: 'POST',
            headers: HEADERS,
            body: JSON.stringify(body)
        };
        const reply = await fetch(`${this.service.httpUrl}/console/api/${path}`, sent);
        expect([
            path,
            reply.ok
        ]).toEqual([
            path,
            true
        ]);
        const lines = (await reply.text()).trim().split('\n');
        return JSON.parse(lines.at(-1) ?? '');
    }
    /** One recall for each name, all at once. */ async recallsAs(userIds, round) {
        const asked = userIds.map(async (userId, at)=>{
            const scene = {
                daypart: DAYPARTS[(at + round) % DAYPARTS.length]
            };
            const { status } = await this.service.post({
                userId,
                scene,
                resultCount: 20
            });
            expect(status).toBe(200);
        });
        await Promise.all(asked);
    }
    async listed(query) {
        return (await this.api(`recalls?${query}`)).recalls;
    }
    async close() {
        await this.browser.close();
        await this.service.stop();
        this.folder.remove();
    }
}

//# sourceMappingURL=console-visits.js.map