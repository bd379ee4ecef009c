/*
 * A scene: one graph with everything that crawls over it are compared with. Cells of a table that share a graph share
 * the scene. See graph.h.
 */
#include <stdlib.h>
#include <string.h>

#include "lab/engine/run_memory.h"
#include "lab/graph/graph.h"

enum { PART = 25, PAGES_LEAST = 100 };

const lab_graph_form lab_graph_of_files = {0, 0, 0}, lab_graph_of_files_seeds_first = {0, 0, 0};

static bool is_of_files(const lab_graph_form *form)
{
    return form == &lab_graph_of_files || form == &lab_graph_of_files_seeds_first;
}

uint64_t lab_scene_pages(const lab_settings *settings, const lab_graph_form *form)
{
    uint64_t pages = lab_urls_part(settings, PART, 1);
    if (is_of_files(form))
        return settings->graph ? settings->graph->pages : 0;
    return pages < PAGES_LEAST ? PAGES_LEAST : pages;
}

static int make_scene(lab_scene *scene, const lab_graph_form *form, const lab_settings *settings, uint64_t run)
{
    if (is_of_files(form)) {
        scene->taken = *settings->graph;
        if (form == &lab_graph_of_files_seeds_first)
            scene->taken.at_once = scene->taken.seed_count;
        scene->graph = &scene->taken;
    } else {
        LAB_TRY(lab_graph_synthetic(&scene->made, form, lab_scene_pages(settings, form), settings, run));
        scene->graph = &scene->made;
    }
    scene->form = form;
    scene->settings = settings;
    scene->run = run;
    LAB_TRY(LAB_NEW(scene->dominator, scene->graph->pages));
    LAB_TRY(LAB_NEW(scene->reached, scene->graph->pages));
    LAB_TRY(lab_crawl_run(&scene->exact[LAB_BREADTH_FIRST], scene->graph, LAB_BREADTH_FIRST, NULL));
    return lab_graph_dominators(scene->dominator, scene->graph, &scene->exact[LAB_BREADTH_FIRST]);
}

int lab_scene_set(lab_scene *scene, const lab_graph_form *form, const lab_settings *settings, uint64_t run)
{
    if (scene->graph && scene->form == form)
        return VIDI_OK;
    memset(scene, 0, sizeof *scene);
    return make_scene(scene, form, settings, run);
}

int lab_scene_exact(lab_scene *scene, lab_order order)
{
    return scene->exact[order].met ? VIDI_OK : lab_crawl_run(&scene->exact[order], scene->graph, order, NULL);
}

int lab_scene_crawl(lab_scene *scene, lab_order order, lab_graph_filter filter, lab_scene_losses *losses)
{
    lab_crawl crawl;
    LAB_TRY(lab_scene_exact(scene, order));
    LAB_BLOCK;
    const lab_crawl *exact = &scene->exact[order];
    LAB_TRY(lab_crawl_filtered(&crawl, scene->graph, order, filter, scene->settings, scene->run, &losses->reported));
    losses->lost = crawl.lost_count;
    losses->lost_with = exact->met_count - crawl.met_count;
    losses->missing = losses->lost + losses->lost_with;
    losses->expected = lab_graph_expect(scene->dominator, exact, filter, scene->graph->pages, scene->reached);
    return VIDI_OK;
}
